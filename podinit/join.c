// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "join.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "init.h"
#include "log.h"
#include "socket.h"

static char path[100];

/* The core asks again where the answer was lost on the way. */
static bool is_there(void)
{
	int fd = socket_connect(path);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Nothing of the exec is kept, whose stream would never end else. Its words go where those
 * of process 1 go, to the Pod's log. */
static void leave_exec(const char *log)
{
	int nothing = open("/dev/null", O_RDWR), words = open(log, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY);

	dup2(nothing, STDIN_FILENO);
	dup2(nothing, STDOUT_FILENO);
	dup2(words < 0 ? nothing : words, STDERR_FILENO);
	if (nothing > STDERR_FILENO)
		close(nothing);
	if (words > STDERR_FILENO)
		close(words);
}

/* Process 1 is its parent as soon as the exec has ended, and reaps it. */
static int live(const struct options *options, int ready)
{
	setsid();
	if (init_setup(options))
		return EXIT_INTERNAL;
	leave_exec(options->log);
	if (write(ready, "", 1) != 1)
		return EXIT_INTERNAL;
	close(ready);
	/* The socket's name stays: a pump that finds nobody behind it knows that there was one. */
	return init_live();
}

/* Returns whether it listens; else it has said why. */
static bool hear(int ready)
{
	char byte;
	ssize_t count;

	do
		count = read(ready, &byte, 1);
	while (count < 0 && errno == EINTR);
	return count == 1;
}

int join_run(const struct options *options)
{
	int ends[2];
	pid_t pid;

	socket_path(path, sizeof(path), options->run, options->session);
	if (is_there())
		return 0;
	if (pipe2(ends, O_CLOEXEC)) {
		say("podinit join: %s", strerror(errno));
		return EXIT_INTERNAL;
	}
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		return live(options, ends[1]);
	}
	close(ends[1]);
	if (pid < 0)
		say("podinit join: %s", strerror(errno));
	else if (hear(ends[0]))
		return 0;
	return EXIT_INTERNAL;
}
