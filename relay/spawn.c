// SPDX-License-Identifier: Apache-2.0
#include "spawn.h"

#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static int sock = -1;

void spawn_open(void)
{
	const char *text = getenv(SPAWN_VARIABLE);
	struct stat status;
	char *end;
	long fd = text ? strtol(text, &end, 10) : -1;

	if (fd > 2 && fd <= 1 << 20 && !*end && !fstat((int)fd, &status) && S_ISSOCK(status.st_mode)) {
		sock = (int)fd;
		fcntl(sock, F_SETFD, FD_CLOEXEC);
	}
	unsetenv(SPAWN_VARIABLE);
}

int spawn_socket(void)
{
	return sock;
}

/* It outlives this relay: Slurm waits for the end of a task's files. */
static _Noreturn void become(void)
{
	char *const arguments[] = { "relay", "--commands", NULL };
	int null = open("/dev/null", O_RDWR);
	char number[16];

	setsid();
	for (int fd = 0; fd < 3; fd++)
		if (null < 0 || dup2(null, fd) < 0)
			_exit(1);
	if (null > 2)
		close(null);
	fcntl(sock, F_SETFD, 0);
	snprintf(number, sizeof(number), "%d", sock);
	setenv(SPAWN_VARIABLE, number, 1);
	execve("/proc/self/exe", arguments, environ);
	_exit(1);
}

/* The core closes its end where all tasks are over: a process for nobody would only be in the way of the
 * step's end, since Slurm finds it and waits for it. */
static bool core_closed(void)
{
	struct pollfd file = { .fd = sock, .events = POLLIN };

	return poll(&file, 1, 0) > 0 && file.revents & (POLLHUP | POLLERR);
}

void spawn_serve(void)
{
	if (sock < 0)
		return;
	if (!core_closed() && fork() == 0)
		become();
	close(sock);
	sock = -1;
}
