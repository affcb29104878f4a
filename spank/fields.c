// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "fields.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"

/* Takes over `item`. */
static void append(struct fields *fields, char *item)
{
	char **list = item ? realloc(fields->list, (fields->count + 2) * sizeof(*list)) : NULL;

	if (!list) {
		free(item);
		fields->failed = true;
		return;
	}
	list[fields->count++] = item;
	list[fields->count] = NULL;
	fields->list = list;
}

void fields_add(struct fields *fields, const char *key, const char *value)
{
	if (value)
		append(fields, say_text("%s=%s", key, value));
}

void fields_format(struct fields *fields, const char *key, const char *format, ...)
{
	va_list arguments;
	char *value;
	int length;

	va_start(arguments, format);
	length = vasprintf(&value, format, arguments);
	va_end(arguments);
	if (length < 0) {
		fields->failed = true;
		return;
	}
	fields_add(fields, key, value);
	free(value);
}

const char *const *fields_vector(const struct fields *fields)
{
	static const char *const empty[] = { NULL };

	return fields->list ? (const char *const *)fields->list : empty;
}

void fields_free(struct fields *fields)
{
	for (size_t i = 0; i < fields->count; i++)
		free(fields->list[i]);
	free(fields->list);
	memset(fields, 0, sizeof(*fields));
}
