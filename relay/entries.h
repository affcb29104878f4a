/* SPDX-License-Identifier: Apache-2.0 */
/* entries.h - a row of records, each value a C string in place. */
#ifndef RELAY_ENTRIES_H
#define RELAY_ENTRIES_H

#include "../common/buffer.h"
#include "../common/records.h"

struct entries {
	struct k8s_entry *all; /* point into the row, which must outlive them */
	size_t count;
};

/* Splits the row, which is written to: every value gets a NUL behind it. Returns 0, or -1: it is
 * malformed, or there is no memory; then `entries` holds nothing. */
int entries_read(struct entries *entries, struct k8s_buffer *row);

/* Frees them; the row stays. */
void entries_clear(struct entries *entries);

#endif
