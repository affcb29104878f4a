// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "socket.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

void socket_path(char *path, size_t size, const char *run, uint64_t session)
{
	if (session)
		snprintf(path, size, "%s/socket.%016llx", run, (unsigned long long)session);
	else
		snprintf(path, size, "%s/socket", run);
}

static int bind_socket(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	mode_t old;
	int rc;

	if (fd < 0)
		return -1;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	unlink(path);
	/* So that it never exists with another mode. */
	old = umask(0177);
	rc = bind(fd, (const struct sockaddr *)&address, sizeof(address));
	umask(old);
	if (rc || listen(fd, 8)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* The socket gets its name only when it listens: a pump that comes early finds none,
 * rather than one that refuses. */
int socket_listen(const char *path)
{
	char early[sizeof(((struct sockaddr_un *)0)->sun_path)];
	int fd;

	snprintf(early, sizeof(early), "%s.new", path);
	fd = bind_socket(early);
	if (fd >= 0 && rename(early, path)) {
		close(fd);
		return -1;
	}
	return fd;
}

int socket_connect(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), error;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd < 0 || !connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

bool socket_is_ours(int fd, pid_t *pid)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		return false;
	*pid = peer.pid;
	return peer.uid == geteuid();
}
