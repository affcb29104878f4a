// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "child.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../common/bytes.h"
#include "affinity.h"
#include "command.h"
#include "environment.h"

static void take_files(const struct files *files)
{
	for (int fd = 0; fd < 3; fd++)
		if (dup2(files->theirs[fd], fd) < 0)
			_exit(126);
	if (files->terminal >= 0)
		ioctl(STDIN_FILENO, TIOCSCTTY, 0);
}

/* Podinit blocks all signals, reads them from an fd, and ignores SIGPIPE. */
static void reset_signals(void)
{
	/* All zero is SIG_DFL. The call below libc's, as that hides two signals which whoever
	 * started podinit may have ignored. */
	static const unsigned char standard[64];
	sigset_t none;

	for (int number = 1; number < _NSIG; number++)
		syscall(SYS_rt_sigaction, number, standard, NULL, _NSIG / 8);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static rlim_t limit_from(const unsigned char *value)
{
	uint64_t limit = k8s_get_u64(value);

	return limit == UINT64_MAX ? RLIM_INFINITY : (rlim_t)limit;
}

static rlim_t lower(rlim_t a, rlim_t b)
{
	return a < b ? a : b;
}

/* Hard limits can only be lowered here, and nobody is served by a task that fails for
 * a limit that cannot be set. */
static void set_limit(const unsigned char *value)
{
	int resource = (int)k8s_get_u32(value);
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		return;
	limit.rlim_max = lower(limit_from(value + 12), limit.rlim_max);
	limit.rlim_cur = lower(limit_from(value + 4), limit.rlim_max);
	setrlimit(resource, &limit);
}

static void set_limits(const struct plan *plan, uint32_t number)
{
	const struct k8s_entry *entry;
	size_t at = 0;

	files_restore_limit();
	while ((entry = plan_next(plan, number, K8S_RECORD_LIMIT, &at)))
		set_limit(entry->value);
}

static void set_umask(const struct plan *plan, uint32_t number)
{
	const struct k8s_entry *entry = plan_last(plan, number, K8S_RECORD_UMASK);

	if (entry)
		umask((mode_t)k8s_get_u32(entry->value) & 0777);
}

/* `cause` is an errno; `instead` the directory in which the task starts, or NULL. */
static void explain_directory(const char *path, int cause, const char *instead)
{
	bool absent = cause == ENOENT || cause == ENOTDIR;

	/* What must exist was asked for, or lies on a volume: it is not the image's alone. */
	dprintf(STDERR_FILENO, "slurm-k8s: %sdirectory \"%s\" %s%s%s%s%s\n", instead ? "" : "error: the job's ", path,
		!absent ? "cannot be entered: " : instead ? "is not in the image" : "is not in the container",
		absent ? "" : strerror(cause), instead ? "; starting in \"" : "", instead ? instead : "", instead ? "\"" : "");
}

/* The image's own (WORKDIR), in which the container's runtime started podinit. */
static const char *images_directory(void)
{
	static char path[PATH_MAX];

	/* It may be one that only root can enter, as /root. */
	if (getcwd(path, sizeof(path)) && path[0] == '/' && !access(path, X_OK))
		return path;
	if (chdir("/"))
		_exit(1);
	return "/";
}

/* Returns the directory in which the task starts; NULL: the plan names none. */
static const char *enter_directory(const struct plan *plan, uint32_t number)
{
	const struct k8s_entry *directory = plan_last(plan, number, K8S_RECORD_DIRECTORY);
	bool required = plan_last(plan, number, K8S_RECORD_REQUIRED);
	const char *path, *instead;
	int cause = ENOENT;

	if (!directory)
		return NULL;
	path = (const char *)directory->value;
	if (path[0] == '/') {
		if (!chdir(path))
			return path;
		cause = errno;
	}
	instead = required ? NULL : images_directory();
	explain_directory(path, cause, instead);
	if (required)
		_exit(1);
	return instead;
}

/* The task's arguments; NULL when there is no memory. */
static char **arguments_of(const struct plan *plan, uint32_t number)
{
	char **arguments = calloc(plan->count + 1, sizeof(*arguments));
	const struct k8s_entry *entry;
	size_t at = 0, count = 0;

	while (arguments && (entry = plan_next(plan, number, K8S_RECORD_ARGV, &at)))
		arguments[count++] = (char *)entry->value;
	return arguments;
}

static void take_script(char **arguments, const char *script, int script_errno)
{
	if (script_errno) {
		dprintf(STDERR_FILENO, "slurm-k8s: error: the job's script cannot be written in the Pod: %s\n",
			strerror(script_errno));
		_exit(1);
	}
	if (arguments[0])
		arguments[0] = (char *)script;
}

void child_run(const struct plan *plan, uint32_t number, const struct files *files, const char *script,
	       int script_errno)
{
	const char *directory;
	char **arguments, **variables;

	setsid();
	take_files(files);
	set_umask(plan, number);
	directory = enter_directory(plan, number);
	arguments = arguments_of(plan, number);
	variables = environment_of(plan, number, directory);
	if (!arguments || !variables) {
		dprintf(STDERR_FILENO, "slurm-k8s: error: out of memory before the task's start\n");
		_exit(1);
	}
	if (plan->script)
		take_script(arguments, script, script_errno);
	affinity_apply(plan, number);
	set_limits(plan, number);
	/* Last, so that a signal that waits meets a task that is ready for it. */
	reset_signals();
	command_run(arguments, variables, plan->script);
}
