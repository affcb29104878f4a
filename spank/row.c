// SPDX-License-Identifier: Apache-2.0
#include "row.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

struct row row_begin(char *out, size_t capacity)
{
	return (struct row){ .at = out, .left = capacity ? capacity - 1 : 0, .full = !capacity };
}

void row_put(struct row *row, const char *key, const char *format, ...)
{
	va_list arguments;
	int key_length, length;

	if (row->full)
		return;
	key_length = snprintf(row->at, row->left, "%s=", key);
	if ((size_t)key_length >= row->left) {
		row->full = true;
		return;
	}
	va_start(arguments, format);
	length = vsnprintf(row->at + key_length, row->left - key_length, format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= row->left - key_length) {
		row->full = true;
		return;
	}
	row->at += key_length + length + 1;
	row->left -= key_length + length + 1;
}

void row_put_text(struct row *row, const char *key, const char *value)
{
	if (value)
		row_put(row, key, "%s", value);
}

int row_end(struct row *row)
{
	if (row->full)
		return -ERANGE;
	*row->at = '\0';
	return 0;
}
