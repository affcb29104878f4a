// SPDX-License-Identifier: Apache-2.0
#include "buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int grow(struct k8s_buffer *buffer, size_t size)
{
	size_t capacity = buffer->capacity ? buffer->capacity : 4096;
	unsigned char *bytes;

	while (capacity < size)
		capacity *= 2;
	bytes = realloc(buffer->bytes, capacity);
	if (!bytes)
		return -1;
	buffer->bytes = bytes;
	buffer->capacity = capacity;
	return 0;
}

int k8s_buffer_append(struct k8s_buffer *buffer, const void *bytes, size_t count)
{
	if (count > buffer->limit - buffer->size) {
		errno = EMSGSIZE;
		return -1;
	}
	if (!count)
		return 0;
	if (buffer->size + count > buffer->capacity && grow(buffer, buffer->size + count))
		return -1;
	memcpy(buffer->bytes + buffer->size, bytes, count);
	buffer->size += count;
	return 0;
}

void k8s_buffer_clear(struct k8s_buffer *buffer)
{
	free(buffer->bytes);
	buffer->bytes = NULL;
	buffer->size = 0;
	buffer->capacity = 0;
}
