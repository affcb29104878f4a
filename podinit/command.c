// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "environment.h"

#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND 127

/* Reads the interpreter of the `#!` line of `path`; false: there is none. */
static bool interpreter_of(const char *path, char *interpreter, size_t capacity)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t count;
	size_t begin = 2;

	if (fd < 0)
		return false;
	count = read(fd, interpreter, capacity - 1);
	close(fd);
	if (count < 3 || strncmp(interpreter, "#!", 2))
		return false;
	interpreter[count] = 0;
	begin += strspn(interpreter + begin, " \t");
	memmove(interpreter, interpreter + begin, strlen(interpreter + begin) + 1);
	/* A carriage return stays: it is why the kernel finds nothing. */
	interpreter[strcspn(interpreter, " \t\n")] = 0;
	return true;
}

/* For messages: a file edited on Windows is a frequent cause, and invisible. */
static const char *hint_for(const char *interpreter)
{
	return strchr(interpreter, '\r') ? " (the line ends with a carriage return)" : "";
}

static _Noreturn void not_found(const char *name)
{
	dprintf(STDERR_FILENO, "slurm-k8s: \"%s\": command not found in the image\n", name);
	_exit(EXIT_NOT_FOUND);
}

static _Noreturn void not_there(const char *path, bool script)
{
	char interpreter[PATH_MAX];

	if (access(path, F_OK))
		not_found(path);
	if (!interpreter_of(path, interpreter, sizeof(interpreter))) {
		dprintf(STDERR_FILENO, "slurm-k8s: \"%s\": its dynamic loader is not in the image\n", path);
	} else {
		const char *hint = hint_for(interpreter);

		interpreter[strcspn(interpreter, "\r")] = 0;
		if (script)
			dprintf(STDERR_FILENO,
				"slurm-k8s: \"%s\": interpreter of the job's script not found in the image%s\n",
				interpreter, hint);
		else
			dprintf(STDERR_FILENO, "slurm-k8s: \"%s\": its interpreter \"%s\" not found in the image%s\n",
				path, interpreter, hint);
	}
	_exit(EXIT_NOT_FOUND);
}

static _Noreturn void not_executable(const char *path, int cause, bool script)
{
	const char *name = script ? "the job's script" : path;
	const char *quote = script ? "" : "\"";

	if (cause == ENOEXEC)
		dprintf(STDERR_FILENO,
			"slurm-k8s: %s%s%s: cannot be executed: neither a program for this machine nor a script "
			"with a #! line\n",
			quote, name, quote);
	else
		dprintf(STDERR_FILENO, "slurm-k8s: %s%s%s: cannot be executed in the image: %s\n", quote, name, quote,
			strerror(cause));
	_exit(EXIT_NOT_EXECUTABLE);
}

static _Noreturn void run_path(const char *path, char *const *arguments, char *const *variables, bool script)
{
	int cause;

	execve(path, arguments, variables);
	cause = errno;
	if (cause == ENOENT || cause == ENOTDIR)
		not_there(path, script);
	not_executable(path, cause, script);
}

/* Executes `name` in the directory that `path` begins with, if it can. Returns errno. */
static int try_directory(const char *path, size_t length, char *const *arguments, char *const *variables,
			 char *tried, size_t capacity)
{
	/* As everywhere, an empty one is the working directory. */
	int size = snprintf(tried, capacity, "%.*s%s%s", (int)length, path, length ? "/" : "./", arguments[0]);

	if (size < 0 || (size_t)size >= capacity)
		return ENAMETOOLONG;
	if (access(tried, F_OK))
		return ENOENT;
	execve(tried, arguments, variables);
	return errno;
}

static _Noreturn void run_in_path(char *const *arguments, char *const *variables)
{
	const char *path = environment_get(variables, "PATH");
	char tried[PATH_MAX];
	bool denied = false;

	if (!path || !*path)
		path = COMMAND_USUAL_PATH;
	for (;;) {
		size_t length = strcspn(path, ":");
		int cause = try_directory(path, length, arguments, variables, tried, sizeof(tried));

		denied |= cause == EACCES;
		if (cause == ENOENT && !access(tried, F_OK))
			not_there(tried, false);
		if (cause != ENOENT && cause != ENOTDIR && cause != EACCES && cause != ENAMETOOLONG)
			not_executable(tried, cause, false);
		if (!path[length])
			break;
		path += length + 1;
	}
	if (denied)
		not_executable(arguments[0], EACCES, false);
	not_found(arguments[0]);
}

void command_run(char *const *arguments, char *const *variables, bool script)
{
	if (!arguments[0] || !arguments[0][0]) {
		dprintf(STDERR_FILENO, "slurm-k8s: error: the task has no command\n");
		_exit(EXIT_NOT_FOUND);
	}
	if (strchr(arguments[0], '/'))
		run_path(arguments[0], arguments, variables, script);
	run_in_path(arguments, variables);
}
