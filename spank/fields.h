/* SPDX-License-Identifier: Apache-2.0 */
/* fields.h - the "key=value" vectors of include/gocore.h. */
#ifndef K8S_FIELDS_H
#define K8S_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

struct fields {
	char **list; /* NULL-ended once something was added */
	size_t count;
	bool failed; /* there was no memory for one of them */
};

/* Adds "key=value". A NULL value adds nothing. */
void fields_add(struct fields *fields, const char *key, const char *value);

/* Adds "key=" and a formatted value. */
void fields_format(struct fields *fields, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The vector, never NULL; borrowed until fields_free. */
const char *const *fields_vector(const struct fields *fields);

void fields_free(struct fields *fields);

#endif
