/* SPDX-License-Identifier: Apache-2.0 */
/* row.h - what a host function answers: NUL-ended "key=value", one after the other, closed by an
 * empty one. */
#ifndef K8S_ROW_H
#define K8S_ROW_H

#include <stdbool.h>
#include <stddef.h>

struct row {
	char *at;
	size_t left; /* what may be written, the closing NUL not counted */
	bool full;
};

/* An empty row in `out`. */
struct row row_begin(char *out, size_t capacity);

void row_put(struct row *row, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A NULL value adds nothing. */
void row_put_text(struct row *row, const char *key, const char *value);

/* Closes it. Returns 0, or -ERANGE: there was too little room. */
int row_end(struct row *row);

#endif
