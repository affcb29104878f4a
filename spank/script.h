/* SPDX-License-Identifier: Apache-2.0 */
/* script.h - the job file: where it is, and its head. */
#ifndef K8S_SCRIPT_H
#define K8S_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What is read of a job file at most. */
#define SCRIPT_HEAD (64 * 1024)

struct script {
	char *text; /* NUL-ended, and may hold more of them; NULL when there is none */
	size_t length;
	bool whole;
};

/* Reads the head of the regular file `path`. `strange`: the file belongs to somebody else's
 * job; no link is followed, and nothing that could block is opened. Returns 0, or errno. */
int script_read(const char *path, bool strange, struct script *script);

/* Reads the head of what a file descriptor stands on, without moving its place. Returns 0, or
 * errno: a pipe has no head any more. */
int script_peek(int fd, struct script *script);

/* Takes a text for the head: that of sbatch --wrap. Returns 0, or errno. */
int script_wrap(const char *text, struct script *script);

void script_free(struct script *script);

/* The file that sbatch opens for the word `name`, absolute: one with '/' or '.' first as it
 * stands, any other looked up in `directory`, then in the folders of `path`. NULL without
 * memory. */
char *script_find(const char *name, const char *directory, const char *path);

#endif
