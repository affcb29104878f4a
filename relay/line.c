// SPDX-License-Identifier: Apache-2.0
#include "line.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void write_line(int fd, const char *format, va_list arguments)
{
	char line[512] = "slurm-k8s: error: ";
	size_t begin = strlen(line);
	size_t length;

	/* One less for the newline. */
	vsnprintf(line + begin, sizeof(line) - begin - 1, format, arguments);
	length = strlen(line);
	line[length++] = '\n';
	if (write(fd, line, length) < 0)
		return;
}

void complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	write_line(STDERR_FILENO, format, arguments);
	va_end(arguments);
}

void complain_to(int fd, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	write_line(fd, format, arguments);
	va_end(arguments);
}
