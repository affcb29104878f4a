// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "pull_secret.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../include/frames.h"
#include "line.h"
#include "pieces.h"

static int refuse(const char *path, const char *why)
{
	complain("--k8s-pull-secret: %s: \"%s\"", why, path);
	return -1;
}

/* What is wrong with it, or NULL. */
static const char *fault_of(int fd)
{
	struct stat status;

	if (fstat(fd, &status))
		return strerror(errno);
	if (!S_ISREG(status.st_mode))
		return "not a file";
	if (status.st_uid != geteuid())
		return "the file is not your own";
	if (status.st_mode & 077)
		return "others may read the file (chmod 600 it)";
	if (status.st_size > K8S_PULL_SECRET_MAX)
		return "the file is larger than 64 KiB";
	return NULL;
}

int pull_secret_add(const char *path)
{
	/* One more than may be, so that a file that grew is noticed. */
	static char text[K8S_PULL_SECRET_MAX + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	size_t length = 0;
	ssize_t count = 0;
	const char *fault;

	if (fd < 0)
		return refuse(path, strerror(errno));
	fault = fault_of(fd);
	while (!fault && length < sizeof(text) && (count = read(fd, text + length, sizeof(text) - length)) > 0)
		length += (size_t)count;
	if (!fault && count < 0)
		fault = strerror(errno);
	close(fd);
	if (!fault && length > K8S_PULL_SECRET_MAX)
		fault = "the file is larger than 64 KiB";
	if (!fault)
		pieces_record(K8S_RECORD_PULL_SECRET, text, length);
	explicit_bzero(text, sizeof(text));
	return fault ? refuse(path, fault) : 0;
}
