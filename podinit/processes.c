// SPDX-License-Identifier: Apache-2.0
#include "processes.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "state.h"

/* Outside a container descendants may fork while they are counted. */
#define PASSES 16

static struct stat podinit;
static char own_name[17];

struct process {
	pid_t pid, parent;
	char state; /* as in /proc: 'Z' is dead */
	bool ours;  /* to be signalled */
	bool named; /* as podinit itself is: not one of Slurm's commands, which are links to it */
};

struct list {
	struct process *all;
	size_t count, capacity;
};

void processes_setup(void)
{
	if (stat("/proc/self/exe", &podinit))
		memset(&podinit, 0, sizeof(podinit));
	prctl(PR_GET_NAME, own_name);
}

/* Reads parent and state. The name between the brackets may hold anything. */
static bool read_process(pid_t pid, struct process *process)
{
	char path[64], text[512];
	const char *behind, *name;
	ssize_t count;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	count = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[count > 0 ? count : 0] = 0;
	behind = strrchr(text, ')');
	if (!behind || strlen(behind) < 5)
		return false;
	*process = (struct process){ .pid = pid, .state = behind[2], .parent = atoi(behind + 4) };
	name = strchr(text, '(') + 1;
	process->named = (size_t)(behind - name) == strlen(own_name) && !strncmp(name, own_name, strlen(own_name));
	return true;
}

static bool is_task(pid_t pid)
{
	for (uint32_t i = 0; i < state.count; i++)
		if (state.tasks[i].pid == pid)
			return true;
	return false;
}

/* A pump runs our own file under our name, as does one that joined, which has become our child; a
 * task on its way to exec also runs it. */
static bool is_podinit(const struct process *process)
{
	struct stat file;
	char path[64];

	if (is_task(process->pid) || !process->named)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)process->pid);
	return !stat(path, &file) && file.st_dev == podinit.st_dev && file.st_ino == podinit.st_ino;
}

static void add(struct list *list, const struct process *process)
{
	if (list->count == list->capacity) {
		size_t capacity = list->capacity ? 2 * list->capacity : 256;
		struct process *all = realloc(list->all, capacity * sizeof(*all));

		if (!all)
			return;
		list->all = all;
		list->capacity = capacity;
	}
	list->all[list->count++] = *process;
}

/* Every living process but this one. */
static bool read_all(struct list *list)
{
	DIR *directory = opendir("/proc");
	struct process process;
	struct dirent *entry;

	list->count = 0;
	if (!directory)
		return false;
	while ((entry = readdir(directory)))
		if (isdigit((unsigned char)entry->d_name[0]) && read_process(atoi(entry->d_name), &process) &&
		    process.state != 'Z' && process.pid != getpid())
			add(list, &process);
	closedir(directory);
	return true;
}

static bool has_our_parent(const struct list *list, const struct process *process)
{
	if (process->parent == getpid())
		return true;
	for (size_t i = 0; i < list->count; i++)
		if (list->all[i].pid == process->parent)
			return list->all[i].ours;
	return false;
}

/* Orphans come to podinit, as it is their reaper, so a descendant stays one. */
static void mark_descendants(struct list *list)
{
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < list->count; i++) {
			if (list->all[i].ours || !has_our_parent(list, &list->all[i]))
				continue;
			list->all[i].ours = more = true;
		}
	}
}

static void mark(struct list *list)
{
	if (getpid() != 1) {
		mark_descendants(list);
		return;
	}
	for (size_t i = 0; i < list->count; i++)
		list->all[i].ours = !is_podinit(&list->all[i]);
}

/* Signals what is marked; what is not is podinit, and is let go on. Returns how many. */
static int signal_marked(const struct list *list, int signal)
{
	int count = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct process *process = &list->all[i];

		if (process->ours)
			count += !kill(process->pid, signal) && (signal != SIGSTOP || process->state != 'T');
		else if (getpid() == 1)
			kill(process->pid, SIGCONT);
	}
	return count;
}

void processes_signal(int signal)
{
	bool all_at_once = signal == SIGKILL || signal == SIGSTOP;
	int passes = all_at_once ? PASSES : 1;
	struct list list = { 0 };

	/* The kernel stops all of them in one go, so that none can fork away meanwhile. */
	if (all_at_once && getpid() == 1)
		kill(-1, SIGSTOP);
	do {
		if (!read_all(&list)) {
			/* No /proc: the pump goes too, and a new one will come. */
			kill(-1, signal);
			break;
		}
		mark(&list);
	} while (signal_marked(&list, signal) && --passes);
	free(list.all);
}

void processes_kill_pump(pid_t pid)
{
	struct process process;

	if (pid > 1 && read_process(pid, &process) && is_podinit(&process))
		kill(pid, SIGKILL);
}
