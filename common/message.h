/* SPDX-License-Identifier: Apache-2.0 */
/* message.h - messages of include/commands.h to and from bytes. */
#ifndef K8S_MESSAGE_H
#define K8S_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "../include/commands.h"

struct k8s_message {
	uint32_t call;
	uint8_t kind;
	uint32_t length;
	const unsigned char *payload; /* borrowed: of the parser, or the caller's */
};

/* Writes the header of a message, which is trusted. */
void k8s_message_encode(const struct k8s_message *message, unsigned char header[K8S_MESSAGE_HEADER]);

/* Puts messages together from pieces of any size; never needs more than its own buffer. All
 * zero: a new one. */
struct k8s_messages {
	size_t have; /* of bytes: the begin of a message */
	unsigned char bytes[K8S_MESSAGE_HEADER + K8S_MESSAGE_MAX];
};

/* Takes from *bytes, *count until a message is complete. 1: `message`, whose payload stays until
 * the next call; 0: all was taken; -1: what no right sender sends, and all that follows is worthless. */
int k8s_messages_next(struct k8s_messages *messages, const unsigned char **bytes, size_t *count,
		      struct k8s_message *message);

#endif
