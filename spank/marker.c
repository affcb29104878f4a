// SPDX-License-Identifier: Apache-2.0
#include "marker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A node's name is a file's name here: from slurm.conf, but one with a '/' is refused. */
static int name_of(char name[NAME_MAX + 1], const char *node, uint32_t job, const char *place)
{
	if (!node || strchr(node, '/'))
		return EINVAL;
	return snprintf(name, NAME_MAX + 1, "%s.%u%s%s", node, job, *place ? "." : "", place) > NAME_MAX ? ENAMETOOLONG : 0;
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

int marker_set(const char *state, const char *node, uint32_t job, const char *place)
{
	char name[NAME_MAX + 1];
	int error = name_of(name, node, job, place), folder, fd;

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

bool marker_is_set(const char *state, const char *node, uint32_t job, const char *place)
{
	char name[NAME_MAX + 1];
	struct stat status;
	bool is_set;
	int folder;

	if (name_of(name, node, job, place))
		return false;
	folder = open_folder(state);
	if (folder < 0)
		return false;
	is_set = !fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW);
	close(folder);
	return is_set;
}

/* Whether `text` is a step's number, a node's, and maybe a component's: "0.1", "0.1.2". */
static bool is_place(const char *text)
{
	for (int numbers = 1; numbers <= 3; numbers++) {
		size_t length = strspn(text, "0123456789");

		if (!length)
			return false;
		text += length;
		if (!*text)
			return numbers >= 2;
		if (*text++ != '.')
			return false;
	}
	return false;
}

void marker_each(const char *state, const char *node, uint32_t job, void (*call)(const char *place, void *argument),
		 void *argument)
{
	char name[NAME_MAX + 1];
	struct dirent *entry;
	size_t length;
	DIR *list;
	int folder;

	if (name_of(name, node, job, "."))
		return;
	/* What name_of put before a place. */
	length = strlen(name) - 1;
	folder = open_folder(state);
	list = folder < 0 ? NULL : fdopendir(folder);
	if (!list) {
		if (folder >= 0)
			close(folder);
		return;
	}
	while ((entry = readdir(list)))
		if (!strncmp(entry->d_name, name, length) && is_place(entry->d_name + length))
			call(entry->d_name + length, argument);
	closedir(list);
}

bool marker_can_tell(const char *state)
{
	int folder = open_folder(state);

	if (folder >= 0)
		close(folder);
	return folder >= 0;
}

void marker_remove(const char *state, const char *node, uint32_t job, const char *place)
{
	char name[NAME_MAX + 1];
	int folder;

	if (name_of(name, node, job, place))
		return;
	folder = open_folder(state);
	if (folder < 0)
		return;
	unlinkat(folder, name, 0);
	close(folder);
}

struct removal {
	const char *state, *node;
	uint32_t job;
};

static void remove_one(const char *place, void *argument)
{
	const struct removal *removal = argument;

	marker_remove(removal->state, removal->node, removal->job, place);
}

void marker_remove_all(const char *state, const char *node, uint32_t job)
{
	struct removal removal = { .state = state, .node = node, .job = job };

	marker_remove(state, node, job, "");
	marker_each(state, node, job, remove_one, &removal);
}
