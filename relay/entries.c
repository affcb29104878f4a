// SPDX-License-Identifier: Apache-2.0
#include "entries.h"

#include <stdlib.h>

static int count_of(const struct k8s_buffer *row, size_t *count)
{
	struct k8s_entry entry;
	size_t at = 0;
	int rc;

	*count = 0;
	while ((rc = k8s_records_next(row->bytes, row->size, &at, &entry)) > 0)
		++*count;
	return rc;
}

int entries_read(struct entries *entries, struct k8s_buffer *row)
{
	size_t size = row->size, count, at = 0;

	*entries = (struct entries){ 0 };
	if (count_of(row, &count))
		return -1;
	/* For the NUL behind the last one. */
	row->limit++;
	if (k8s_buffer_append(row, "", 1))
		return -1;
	entries->all = calloc(count + 1, sizeof(*entries->all));
	if (!entries->all)
		return -1;
	entries->count = count;
	for (size_t i = 0; i < count; i++)
		k8s_records_next(row->bytes, size, &at, &entries->all[i]);
	/* Afterwards no header is needed any more. */
	for (size_t i = 0; i < count; i++)
		row->bytes[entries->all[i].value - row->bytes + entries->all[i].length] = 0;
	return 0;
}

void entries_clear(struct entries *entries)
{
	free(entries->all);
	*entries = (struct entries){ 0 };
}
