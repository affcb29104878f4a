// SPDX-License-Identifier: Apache-2.0
#include "message.h"

#include <stdbool.h>
#include <string.h>

#include "bytes.h"

void k8s_message_encode(const struct k8s_message *message, unsigned char header[K8S_MESSAGE_HEADER])
{
	k8s_put_u32(header, message->call);
	k8s_put_u32(header + 4, (uint32_t)message->kind << 24);
	k8s_put_u32(header + 8, message->length);
}

/* Of a kind whose length is fixed, or -1. */
static int length_of(uint8_t kind)
{
	switch (kind) {
	case K8S_CALL_BEGIN:
	case K8S_CALL_RUN:
	case K8S_CALL_INPUT_END:
	case K8S_CALL_GONE:
		return 0;
	case K8S_CALL_SIGNAL:
	case K8S_CALL_WINSIZE:
	case K8S_CALL_COMMAND_END:
	case K8S_CALL_CREDIT_BACK:
	case K8S_CALL_EXIT:
		return 4;
	default:
		return -1;
	}
}

static bool is_sound(const unsigned char *header)
{
	uint32_t length = k8s_get_u32(header + 8);
	int fixed = length_of(header[4]);

	if (header[4] < K8S_CALL_BEGIN || header[4] > K8S_CALL_REFUSED || header[5] || header[6] || header[7])
		return false;
	if (k8s_get_u32(header) > K8S_CALLS)
		return false;
	return fixed < 0 ? length <= K8S_MESSAGE_MAX : length == (uint32_t)fixed;
}

/* Takes bytes until there are `size`. Returns whether there are. */
static bool fill(struct k8s_messages *messages, size_t size, const unsigned char **bytes, size_t *count)
{
	size_t some = messages->have < size ? size - messages->have : 0;

	if (some > *count)
		some = *count;
	if (some)
		memcpy(messages->bytes + messages->have, *bytes, some);
	messages->have += some;
	*bytes += some;
	*count -= some;
	return messages->have >= size;
}

int k8s_messages_next(struct k8s_messages *messages, const unsigned char **bytes, size_t *count,
		      struct k8s_message *message)
{
	const unsigned char *header = messages->bytes;
	size_t size;

	if (!fill(messages, K8S_MESSAGE_HEADER, bytes, count))
		return 0;
	if (!is_sound(header))
		return -1;
	size = K8S_MESSAGE_HEADER + k8s_get_u32(header + 8);
	if (!fill(messages, size, bytes, count))
		return 0;
	*message = (struct k8s_message){ .call = k8s_get_u32(header),
					 .kind = header[4],
					 .length = (uint32_t)(size - K8S_MESSAGE_HEADER),
					 .payload = header + K8S_MESSAGE_HEADER };
	messages->have = 0;
	return 1;
}
