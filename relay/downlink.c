// SPDX-License-Identifier: Apache-2.0
#include "downlink.h"

#include <errno.h>

#include "../common/bytes.h"
#include "../common/reader.h"
#include "line.h"
#include "relay.h"
#include "sink.h"
#include "source.h"
#include "terminal.h"
#include "uplink.h"

static unsigned char buffer[4 * K8S_READER_MIN];
static struct k8s_reader reader;

void downlink_open(void)
{
	k8s_reader_init(&reader, buffer, sizeof(buffer), 0);
}

static int take_exit(const struct k8s_frame *frame)
{
	if (frame->length != K8S_EXIT_PAYLOAD || relay.exited)
		return -1;
	relay.exited = true;
	relay.status = (int)k8s_get_u32(frame->payload);
	return 0;
}

static int take_data(const struct k8s_frame *frame)
{
	if (frame->stream == K8S_STDIN)
		return -1;
	if (frame->stream == K8S_NOTICE) {
		sink_notice(frame->payload, frame->length);
		return 0;
	}
	return sink_take(frame->stream, frame->offset, frame->payload, frame->length);
}

static int take(const struct k8s_frame *frame)
{
	switch (frame->type) {
	case K8S_FRAME_START:
		relay.started = true;
		terminal_raw();
		return 0;
	case K8S_FRAME_DATA:
		return take_data(frame);
	case K8S_FRAME_ACK:
		return frame->stream == K8S_STDIN ? source_acknowledge(frame->offset) : -1;
	case K8S_FRAME_HEARTBEAT:
		if (!(frame->flags & K8S_FLAG_REPLY))
			uplink_heartbeat(frame->offset);
		return 0;
	case K8S_FRAME_EXIT:
		return take_exit(frame);
	case K8S_FRAME_HELLO:
	case K8S_FRAME_EOF:
	case K8S_FRAME_DETACH:
		return 0; /* nothing to do: the files are Slurm's to close */
	default:
		return -1;
	}
}

static int take_all(void)
{
	struct k8s_frame frame;
	int rc;

	while ((rc = k8s_reader_next(&reader, &frame)) > 0) {
		if (take(&frame)) {
			complain("the plugin's core sent what makes no sense: frame %d, stream %d", frame.type,
				 frame.stream);
			return -1;
		}
	}
	if (rc < 0)
		complain("the plugin's core sent a malformed frame: %s", k8s_fault_name(rc));
	return rc < 0 ? -1 : 1;
}

int downlink_read(void)
{
	ssize_t count = k8s_reader_fill(&reader, relay.socket);

	if (count < 0 && (errno == EAGAIN || errno == EINTR))
		return 1;
	if (count <= 0)
		return 0;
	return take_all();
}
