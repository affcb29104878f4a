// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <sys/resource.h>
#include <unistd.h>

/* Kept free, so that a step with many tasks can still be talked to. */
#define FDS_SPARE 16

/* What a container may spend on large pipes: beyond 64 MiB in all, over all of a user's
 * processes on the machine, the kernel would give the user's other pipes a page or two. */
#define PIPES_TOTAL (2 * 1024 * 1024)
#define PIPE_LARGEST (256 * 1024)
#define PIPE_USUAL (64 * 1024)

static struct rlimit given = { RLIM_INFINITY, RLIM_INFINITY };

void files_raise_limit(void)
{
	struct rlimit raised;

	if (getrlimit(RLIMIT_NOFILE, &given))
		return;
	raised = given;
	raised.rlim_cur = raised.rlim_max;
	setrlimit(RLIMIT_NOFILE, &raised);
}

void files_restore_limit(void)
{
	setrlimit(RLIMIT_NOFILE, &given);
}

static void clear(struct files *files)
{
	for (int i = 0; i < 3; i++)
		files->ours[i] = files->theirs[i] = -1;
	files->terminal = -1;
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void files_close_theirs(struct files *files)
{
	for (int i = 2; i > 0; i--)
		if (files->theirs[i] == files->theirs[i - 1])
			files->theirs[i] = -1;
	for (int i = 0; i < 3; i++)
		close_one(&files->theirs[i]);
}

void files_close(struct files *files)
{
	int saved = errno;

	files_close_theirs(files);
	for (int i = 0; i < 3; i++)
		close_one(&files->ours[i]);
	close_one(&files->terminal);
	errno = saved;
}

static int unblock(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 ? -1 : fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

bool files_spare_left(int fd)
{
	if (given.rlim_max == RLIM_INFINITY || (rlim_t)fd + FDS_SPARE < given.rlim_max)
		return true;
	errno = EMFILE;
	return false;
}

static int one_pipe(int *reading, int *writing, int *ours)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -1;
	*reading = ends[0];
	*writing = ends[1];
	if (!files_spare_left(ends[1]))
		return -1;
	return unblock(*ours);
}

/* Fewer changes between the task and podinit. No matter where it is not allowed. */
static void enlarge(int fd, uint32_t tasks)
{
	int size = (int)(PIPES_TOTAL / (2 * tasks));

	if (size > PIPE_LARGEST)
		size = PIPE_LARGEST;
	if (size > PIPE_USUAL)
		(void)fcntl(fd, F_SETPIPE_SZ, size);
}

int files_pipes(struct files *files, uint32_t tasks, bool one_output)
{
	clear(files);
	if (one_pipe(&files->theirs[0], &files->ours[0], &files->ours[0]) ||
	    one_pipe(&files->ours[1], &files->theirs[1], &files->ours[1]) ||
	    (!one_output && one_pipe(&files->ours[2], &files->theirs[2], &files->ours[2]))) {
		files_close(files);
		return -1;
	}
	enlarge(files->ours[1], tasks);
	if (one_output)
		files->theirs[2] = files->theirs[1];
	else
		enlarge(files->ours[2], tasks);
	return 0;
}

static int master_again(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

int files_terminal(struct files *files, uint16_t rows, uint16_t columns)
{
	struct winsize size = { .ws_row = rows, .ws_col = columns };
	int slave;

	clear(files);
	if (openpty(&files->ours[1], &slave, NULL, NULL, &size))
		return -1;
	files->theirs[0] = files->theirs[1] = files->theirs[2] = slave;
	files->ours[0] = master_again(files->ours[1]);
	files->terminal = master_again(files->ours[1]);
	if (files->ours[0] < 0 || files->terminal < 0 || !files_spare_left(files->terminal) || unblock(files->ours[1]) ||
	    fcntl(files->ours[1], F_SETFD, FD_CLOEXEC) || fcntl(slave, F_SETFD, FD_CLOEXEC)) {
		files_close(files);
		return -1;
	}
	return 0;
}
