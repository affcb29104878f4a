// SPDX-License-Identifier: Apache-2.0
#include "uplink.h"

#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>

#include "../common/frame.h"
#include "relay.h"
#include "signals.h"
#include "sink.h"
#include "source.h"

static unsigned char bytes[K8S_FRAME_HEADER + K8S_FRAME_PAYLOAD];
static size_t at, have;
static bool heartbeat_due;
static uint64_t heartbeat;

void uplink_heartbeat(uint64_t counter)
{
	heartbeat = counter;
	heartbeat_due = true;
}

bool uplink_waits(void)
{
	return at < have;
}

static bool next_heartbeat(struct k8s_frame *frame)
{
	if (!heartbeat_due)
		return false;
	heartbeat_due = false;
	*frame = (struct k8s_frame){ .type = K8S_FRAME_HEARTBEAT, .flags = K8S_FLAG_REPLY, .offset = heartbeat };
	return true;
}

static bool next_acknowledgement(struct k8s_frame *frame, int stream)
{
	struct sink *sink = &sinks[stream];

	if (sink->told == sink->written)
		return false;
	sink->told = sink->written;
	*frame = (struct k8s_frame){ .type = K8S_FRAME_ACK, .stream = (uint8_t)stream, .offset = sink->written };
	return true;
}

/* Makes the next frame in the buffer, what is urgent first. */
static bool next(bool *input)
{
	unsigned char *payload = bytes + K8S_FRAME_HEADER;
	struct k8s_frame frame;
	bool found = signals_next(&frame, payload) || next_heartbeat(&frame) ||
		     next_acknowledgement(&frame, K8S_STDOUT) || next_acknowledgement(&frame, K8S_STDERR);

	if (!found && *input && source_wanted()) {
		*input = false;
		found = source_read(&frame, payload);
	}
	if (!found)
		return false;
	k8s_frame_encode(&frame, bytes);
	at = 0;
	have = K8S_FRAME_HEADER + frame.length;
	return true;
}

int uplink_write(bool input)
{
	while (uplink_waits() || next(&input)) {
		ssize_t count = send(relay.socket, bytes + at, have - at, MSG_NOSIGNAL);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return errno == EAGAIN ? 0 : -1;
		at += (size_t)count;
	}
	return 0;
}
