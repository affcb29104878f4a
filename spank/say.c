// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "say.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "slurm_api.h"

#define TAG "k8s: "

/* What a text becomes when there is no memory for it: a fault must stay a fault. */
static char no_memory[] = "out of memory";

static const char *place = "";

void say_place(const char *text)
{
	place = text;
}

/* Slurm's functions are called by name, never through a pointer: their addresses would be wanted
 * when the plugin is loaded, and not when it first has something to say. */
static void say_line(const char *line, size_t length, bool is_error)
{
	char clean[2048];
	size_t n = length < sizeof(clean) - 1 ? length : sizeof(clean) - 1;

	/* Values are quoted in messages: none may steer a terminal. */
	for (size_t i = 0; i < n; i++)
		clean[i] = (unsigned char)line[i] < ' ' || line[i] == 0x7f ? '?' : line[i];
	clean[n] = '\0';
	line = strncmp(clean, TAG, strlen(TAG)) ? clean : clean + strlen(TAG);
	if (is_error)
		slurm_error(TAG "%s%s", place, line);
	else
		slurm_info(TAG "%s%s", place, line);
}

static void say_lines(const char *text, bool is_error)
{
	while (text && *text) {
		size_t length = strcspn(text, "\n");

		if (length)
			say_line(text, length, is_error);
		text += length;
		if (*text)
			text++;
	}
}

void say_errors(const char *text)
{
	say_lines(text, true);
}

void say_infos(const char *text)
{
	say_lines(text, false);
}

static char *format_text(const char *format, va_list arguments)
{
	char *text;

	return vasprintf(&text, format, arguments) < 0 ? NULL : text;
}

void say_error(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = format_text(format, arguments);
	va_end(arguments);
	say_errors(text ? text : no_memory);
	free(text);
}

void say_info(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = format_text(format, arguments);
	va_end(arguments);
	say_infos(text ? text : no_memory);
	free(text);
}

char *say_text(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = format_text(format, arguments);
	va_end(arguments);
	return text;
}

void say_append(char **text, const char *format, ...)
{
	va_list arguments;
	char *line, *joined;

	va_start(arguments, format);
	line = format_text(format, arguments);
	va_end(arguments);
	if (!*text) {
		*text = line ? line : no_memory;
		return;
	}
	if (line && *text != no_memory && asprintf(&joined, "%s\n%s", *text, line) >= 0) {
		free(*text);
		*text = joined;
	}
	free(line);
}

void say_free(char **text)
{
	if (*text != no_memory)
		free(*text);
	*text = NULL;
}
