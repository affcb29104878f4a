// SPDX-License-Identifier: Apache-2.0
#include "task.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../common/bytes.h"
#include "child.h"
#include "files.h"

/* All that the core takes on one stream, see frames.h. */
static size_t ring_size(uint32_t tasks)
{
	size_t size = K8S_OUTPUT_TOTAL / (2 * (size_t)tasks);

	if (size < K8S_OUTPUT_LEAST)
		return K8S_OUTPUT_LEAST;
	return size > K8S_OUTPUT_WINDOW ? K8S_OUTPUT_WINDOW : size;
}

static int open_files(struct files *files, const struct plan *plan, uint32_t number)
{
	const struct k8s_entry *tty = plan_last(plan, number, K8S_RECORD_TTY);

	if (!tty)
		return files_pipes(files, plan->tasks, plan_last(plan, number, K8S_RECORD_ONE_OUTPUT));
	return files_terminal(files, k8s_get_u16(tty->value), k8s_get_u16(tty->value + 2));
}

/* Podinit's ends go to the streams, in any case. */
static int open_streams(struct task *task, const struct files *files, size_t size)
{
	int failed;

	input_open(&task->input, task, files->ours[0], files->terminal >= 0);
	failed = output_open(&task->outputs[0], task, files->ours[1], size);
	failed |= output_open(&task->outputs[1], task, files->ours[2], size);
	return failed;
}

static void could_not_start(struct task *task, int error)
{
	char line[160];

	snprintf(line, sizeof(line), "slurm-k8s: error: the task cannot be started in the Pod: %s\n", strerror(error));
	task->ended = true;
	task->status = 1 << 8;
	output_say(&task->outputs[1], line);
	input_abandon(&task->input);
	for (int i = 0; i < 2; i++)
		watch_close(&task->outputs[i].watch);
}

static int fork_task(struct task *task, struct files *files, const struct plan *plan, const char *script,
		     int script_errno)
{
	pid_t pid = fork();

	if (pid == 0)
		child_run(plan, task->number, files, script, script_errno);
	if (pid < 0)
		return -1;
	task->pid = pid;
	return 0;
}

void task_start(struct task *task, uint32_t number, const struct plan *plan, const char *script, int script_errno)
{
	struct files files = { { -1, -1, -1 }, { -1, -1, -1 }, -1 };
	int error = 0;

	task->number = number;
	if (open_files(&files, plan, number))
		error = errno;
	task->terminal = files.terminal;
	if (open_streams(task, &files, ring_size(plan->tasks)) && !error)
		error = ENOMEM;
	if (!error && fork_task(task, &files, plan, script, script_errno))
		error = errno;
	files_close_theirs(&files);
	if (error)
		could_not_start(task, error);
}

bool task_drained(const struct task *task)
{
	return output_ended(&task->outputs[0]) && output_ended(&task->outputs[1]);
}

void task_signal(const struct task *task, int signal, bool group)
{
	if (!task->pid)
		return;
	/* The forked child may not have come to lead its group yet. */
	if (!group || kill(-task->pid, signal))
		kill(task->pid, signal);
}

void task_resize(const struct task *task, uint16_t rows, uint16_t columns)
{
	struct winsize size = { .ws_row = rows, .ws_col = columns };

	if (task->terminal >= 0)
		ioctl(task->terminal, TIOCSWINSZ, &size);
}

static uint64_t microseconds(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
}

void task_exit_payload(const struct task *task, unsigned char payload[K8S_EXIT_PAYLOAD])
{
	k8s_put_u32(payload, (uint32_t)task->status);
	k8s_put_u32(payload + 4, task->oom_kills);
	k8s_put_u64(payload + 8, microseconds(&task->usage.ru_utime));
	k8s_put_u64(payload + 16, microseconds(&task->usage.ru_stime));
	k8s_put_u64(payload + 24, task->peak);
}
