/* SPDX-License-Identifier: Apache-2.0 */
/* records.h - the payloads of HELLO and START: a row of tagged values. */
#ifndef K8S_RECORDS_H
#define K8S_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "buffer.h"
#include "frame.h"

struct k8s_entry {
	unsigned char tag;
	uint32_t task; /* or K8S_TASK_ALL */
	uint32_t length;
	const unsigned char *value; /* into the row of records it was read from */
};

/* Writes the header of a record with `length` bytes of value to `header`. */
void k8s_record_header(unsigned char header[K8S_RECORD_HEADER], unsigned char tag, uint32_t task, uint32_t length);

/* Appends one record. Returns 0, or -1 with errno as k8s_buffer_append; then the
 * buffer is as it was. */
int k8s_record_append(struct k8s_buffer *buffer, unsigned char tag, uint32_t task, const void *value, uint32_t length);

/* The record at `*at`, and moves `*at` behind it: 1 and `entry`; 0 at the end of the
 * row; negative: a fault. Unknown tags are handed out like all others: skip them. */
int k8s_records_next(const unsigned char *row, size_t size, size_t *at, struct k8s_entry *entry);

#endif
