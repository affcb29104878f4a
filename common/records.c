// SPDX-License-Identifier: Apache-2.0
#include "records.h"

#include <string.h>

#include "bytes.h"

void k8s_record_header(unsigned char header[K8S_RECORD_HEADER], unsigned char tag, uint32_t task, uint32_t length)
{
	k8s_put_u32(header, (uint32_t)tag << 24);
	k8s_put_u32(header + 4, task);
	k8s_put_u32(header + 8, length);
}

int k8s_record_append(struct k8s_buffer *buffer, unsigned char tag, uint32_t task, const void *value, uint32_t length)
{
	unsigned char header[K8S_RECORD_HEADER];

	k8s_record_header(header, tag, task, length);
	if (k8s_buffer_append(buffer, header, sizeof(header)))
		return -1;
	if (k8s_buffer_append(buffer, value, length)) {
		buffer->size -= sizeof(header);
		return -1;
	}
	return 0;
}

static int fixed_size(unsigned char tag)
{
	switch (tag) {
	case K8S_RECORD_REQUIRED:
	case K8S_RECORD_ONE_OUTPUT:
		return 0;
	case K8S_RECORD_UMASK:
	case K8S_RECORD_TTY:
	case K8S_RECORD_TASKS:
	case K8S_RECORD_STATE:
		return 4;
	case K8S_RECORD_INPUT:
		return 8;
	case K8S_RECORD_LIMIT:
		return 20;
	default:
		return -1;
	}
}

static int is_text(unsigned char tag)
{
	return tag == K8S_RECORD_ARGV || tag == K8S_RECORD_ENV || tag == K8S_RECORD_DIRECTORY ||
	       tag == K8S_RECORD_HOME || tag == K8S_RECORD_VERSION || tag == K8S_RECORD_COMMAND ||
	       tag == K8S_RECORD_PATH;
}

static int value_fault(const struct k8s_entry *entry)
{
	int size = fixed_size(entry->tag);

	if (size >= 0 && entry->length != (uint32_t)size)
		return K8S_FAULT_SIZE;
	if (is_text(entry->tag) && memchr(entry->value, 0, entry->length))
		return K8S_FAULT_NUL;
	return 0;
}

int k8s_records_next(const unsigned char *row, size_t size, size_t *at, struct k8s_entry *entry)
{
	const unsigned char *header = row + *at;
	size_t left = size - *at;
	int fault;

	if (!left)
		return 0;
	if (left < K8S_RECORD_HEADER)
		return K8S_FAULT_HEADER;
	if (header[1] || header[2] || header[3])
		return K8S_FAULT_PADDING;
	entry->tag = header[0];
	entry->task = k8s_get_u32(header + 4);
	entry->length = k8s_get_u32(header + 8);
	entry->value = header + K8S_RECORD_HEADER;
	if (entry->length > left - K8S_RECORD_HEADER)
		return K8S_FAULT_LENGTH;
	fault = value_fault(entry);
	if (fault)
		return fault;
	*at += K8S_RECORD_HEADER + entry->length;
	return 1;
}
