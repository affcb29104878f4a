/* SPDX-License-Identifier: Apache-2.0 */
/* pull_secret.h - the user's own Docker configuration, read as the user on the Slurm node. */
#ifndef RELAY_PULL_SECRET_H
#define RELAY_PULL_SECRET_H

/* Adds the file's bytes to the HELLO that has begun. It must be a regular file of the user's
 * own that nobody else may read. Returns 0, or -1 after a line on stderr. */
int pull_secret_add(const char *path);

#endif
