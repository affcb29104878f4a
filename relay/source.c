// SPDX-License-Identifier: Apache-2.0
#include "source.h"

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

#include "relay.h"

static struct {
	uint64_t sent, acknowledged;
	bool ended;
} source;

static size_t room(void)
{
	size_t room = K8S_INPUT_WINDOW - (size_t)(source.sent - source.acknowledged);

	return room < K8S_FRAME_PAYLOAD ? room : K8S_FRAME_PAYLOAD;
}

bool source_wanted(void)
{
	return relay.started && !relay.exited && !source.ended && room();
}

bool source_read(struct k8s_frame *frame, unsigned char payload[K8S_FRAME_PAYLOAD])
{
	ssize_t count = read(STDIN_FILENO, payload, room());

	if (count < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	source.ended = count <= 0;
	*frame = (struct k8s_frame){ .type = source.ended ? K8S_FRAME_EOF : K8S_FRAME_DATA,
				     .stream = K8S_STDIN,
				     .length = count > 0 ? (uint32_t)count : 0,
				     .offset = source.sent };
	source.sent += frame->length;
	return true;
}

int source_acknowledge(uint64_t offset)
{
	if (offset > source.sent)
		return -1;
	if (offset > source.acknowledged)
		source.acknowledged = offset;
	return 0;
}
