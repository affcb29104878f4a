// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "state.h"

/* What Kubernetes keeps of it. */
#define REPORT_MAX 4096

static void write_report(const char *text)
{
	int fd = open(state.options.report, O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		unlink(state.options.report);
	close(fd);
}

static long long microseconds(const struct timeval *time)
{
	return (long long)time->tv_sec * 1000000 + time->tv_usec;
}

/* Appends a line, or nothing if it does not fit. */
static void append_task(char *text, const struct task *task)
{
	size_t length = strlen(text);
	int size = snprintf(text + length, REPORT_MAX - length, "task=%u status=%d oom=%u utime=%lld stime=%lld peak=%llu\n",
			    task->number, task->status, task->oom_kills, microseconds(&task->usage.ru_utime),
			    microseconds(&task->usage.ru_stime), (unsigned long long)task->peak);

	if (size < 0 || (size_t)size >= REPORT_MAX - length)
		text[length] = 0;
}

static void append_tasks(char *text, bool failed)
{
	for (uint32_t i = 0; i < state.count; i++)
		if ((state.tasks[i].status != 0) == failed)
			append_task(text, &state.tasks[i]);
}

/* Of all tasks, since their own lines may not fit. */
static void append_sum(char *text)
{
	size_t length = strlen(text);
	long long user = 0, system = 0;
	uint64_t peak = 0;

	for (uint32_t i = 0; i < state.count; i++) {
		user += microseconds(&state.tasks[i].usage.ru_utime);
		system += microseconds(&state.tasks[i].usage.ru_stime);
		if (state.tasks[i].peak > peak)
			peak = state.tasks[i].peak;
	}
	snprintf(text + length, REPORT_MAX - length, "usage utime=%lld stime=%lld peak=%llu\n", user, system,
		 (unsigned long long)peak);
}

void report_write(void)
{
	char text[REPORT_MAX];

	strcpy(text, state.orphaned ? "orphaned\n" : "");
	append_sum(text);
	append_tasks(text, true);
	append_tasks(text, false);
	write_report(text);
}

void report_never_started(void)
{
	write_report("never started\n");
}
