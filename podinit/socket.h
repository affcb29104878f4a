/* SPDX-License-Identifier: Apache-2.0 */
/* socket.h - podinit's socket in the run directory, for its own user alone. */
#ifndef PODINIT_SOCKET_H
#define PODINIT_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Makes the socket `path`, mode 0600, in place of one that is there, and listens.
 * Returns a non-blocking fd, the caller's; or -1 with errno. */
int socket_listen(const char *path);

/* Writes the path of the socket that `session` has beside process 1's, or of process 1's own: 0. */
void socket_path(char *path, size_t size, const char *run, uint64_t session);

/* Connects to it. Returns a blocking fd, the caller's; or -1 with errno. */
int socket_connect(const char *path);

/* The process behind a connection runs as our user; *pid is its number, 0 when it is
 * not in our pid namespace. */
bool socket_is_ours(int fd, pid_t *pid);

#endif
