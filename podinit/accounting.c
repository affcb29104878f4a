// SPDX-License-Identifier: Apache-2.0
#include "accounting.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *mounted = "";
static bool only_task;
static uint64_t kills_before;

/* The beginning of a small file as text. Returns false if there is no such file. */
static bool read_text(const char *name, char *text, size_t capacity)
{
	char path[512];
	ssize_t count;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", mounted, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	count = read(fd, text, capacity - 1);
	close(fd);
	text[count > 0 ? count : 0] = 0;
	return count > 0;
}

/* The number behind the word `oom_kill` at a line's beginning. */
static uint64_t kills_in(const char *text)
{
	const char *word = "oom_kill ";

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, word, strlen(word)))
			return strtoull(line + strlen(word), NULL, 10);
	}
	return 0;
}

/* cgroup v2 first, then v1. */
static uint64_t kills_now(void)
{
	char text[1024];

	if (read_text("memory.events", text, sizeof(text)) || read_text("memory/memory.oom_control", text, sizeof(text)))
		return kills_in(text);
	return 0;
}

void accounting_begin(const char *directory, bool alone)
{
	mounted = directory;
	/* Outside a container the cgroup there is the whole machine's. */
	only_task = alone && getpid() == 1;
	kills_before = kills_now();
}

uint32_t accounting_oom_kills(void)
{
	uint64_t now = kills_now();

	return now > kills_before ? (uint32_t)(now - kills_before) : 0;
}

uint64_t accounting_peak(const struct rusage *usage)
{
	uint64_t peak = (uint64_t)usage->ru_maxrss * 1024;
	char text[64];

	if (only_task && (read_text("memory.peak", text, sizeof(text)) ||
			  read_text("memory/memory.max_usage_in_bytes", text, sizeof(text))))
		peak = strtoull(text, NULL, 10);
	return peak;
}
