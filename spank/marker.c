// SPDX-License-Identifier: Apache-2.0
#include "marker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A node's name is a file's name here: from slurm.conf, but one with a '/' is refused. */
static int name_of(char name[NAME_MAX + 1], const char *node, uint32_t job)
{
	if (!node || strchr(node, '/'))
		return EINVAL;
	return snprintf(name, NAME_MAX + 1, "%s.%u", node, job) > NAME_MAX ? ENAMETOOLONG : 0;
}

/* The folder must be this user's own, and closed to all others. */
static int open_folder(const char *state)
{
	int fd = open(state, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;

	if (fd < 0)
		return -1;
	if (fstat(fd, &status) || status.st_uid != geteuid() || (status.st_mode & 077)) {
		close(fd);
		errno = EPERM;
		return -1;
	}
	return fd;
}

int marker_set(const char *state, const char *node, uint32_t job)
{
	char name[NAME_MAX + 1];
	int error = name_of(name, node, job), folder, fd;

	if (error)
		return error;
	if (mkdir(state, 0700) && errno != EEXIST)
		return errno;
	folder = open_folder(state);
	if (folder < 0)
		return errno;
	fd = openat(folder, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	error = fd < 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	close(folder);
	return error;
}

bool marker_is_set(const char *state, const char *node, uint32_t job)
{
	char name[NAME_MAX + 1];
	struct stat status;
	bool is_set;
	int folder;

	if (name_of(name, node, job))
		return false;
	folder = open_folder(state);
	if (folder < 0)
		return false;
	is_set = !fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW);
	close(folder);
	return is_set;
}

bool marker_can_tell(const char *state)
{
	int folder = open_folder(state);

	if (folder >= 0)
		close(folder);
	return folder >= 0;
}

void marker_remove(const char *state, const char *node, uint32_t job)
{
	char name[NAME_MAX + 1];
	int folder;

	if (name_of(name, node, job))
		return;
	folder = open_folder(state);
	if (folder < 0)
		return;
	unlinkat(folder, name, 0);
	close(folder);
}
