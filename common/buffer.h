/* SPDX-License-Identifier: Apache-2.0 */
/* buffer.h - bytes that grow up to a limit. */
#ifndef K8S_BUFFER_H
#define K8S_BUFFER_H

#include <stddef.h>

/* All zero but the limit is an empty buffer. */
struct k8s_buffer {
	unsigned char *bytes; /* the buffer's own, moves when it grows; NULL while empty */
	size_t size;
	size_t capacity;
	size_t limit; /* size never passes it */
};

/* Appends `count` bytes. Returns 0, or -1 with errno EMSGSIZE (limit) or ENOMEM;
 * then nothing was appended. */
int k8s_buffer_append(struct k8s_buffer *buffer, const void *bytes, size_t count);

/* Frees the bytes and leaves the buffer empty, with its limit. */
void k8s_buffer_clear(struct k8s_buffer *buffer);

#endif
