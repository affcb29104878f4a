// SPDX-License-Identifier: Apache-2.0
#include "log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void say(const char *format, ...)
{
	int saved = errno;
	char line[512];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(line, sizeof(line) - 1, format, arguments);
	va_end(arguments);
	if (length > (int)sizeof(line) - 2)
		length = sizeof(line) - 2;
	if (length > 0) {
		line[length] = '\n';
		if (write(STDERR_FILENO, line, (size_t)length + 1) < 0)
			errno = saved;
	}
	errno = saved;
}
