// SPDX-License-Identifier: Apache-2.0
/* Faults on purpose, by which `make sanitize` and `make valgrind` show that they would see one: REPORTS/fault has a
 * program's name, and what is to be wrong at its start, or when it loads the plugin. Linked into their builds alone. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Volatile, so that the compiler does not see through it. */
static char *volatile bytes;
static volatile int most = INT_MAX;

static void write_past_the_end(void)
{
	bytes = malloc(8);
	bytes[8] = 1;
	free(bytes);
}

static void overflow(void)
{
	most = most + 1;
}

static void ask_what_was_never_set(void)
{
	bytes = malloc(8);
	if (bytes[0])
		most = 0;
	free(bytes);
}

/* Returns what is wished for of this program, or "". */
static const char *wish(void)
{
	static char text[64];
	size_t length = strlen(program_invocation_short_name);
	int fd = open(REPORTS "/fault", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return "";
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	if (strncmp(text, program_invocation_short_name, length) || text[length] != ' ')
		return "";
	return text + length + 1;
}

static __attribute__((constructor)) void fault_begin(void)
{
	const char *fault = wish();

	if (!strcmp(fault, "address\n"))
		write_past_the_end();
	if (!strcmp(fault, "overflow\n"))
		overflow();
	if (!strcmp(fault, "unset\n"))
		ask_what_was_never_set();
}
