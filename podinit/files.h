/* SPDX-License-Identifier: Apache-2.0 */
/* files.h - the pipes or the terminal between podinit and a task. */
#ifndef PODINIT_FILES_H
#define PODINIT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All fds are close-on-exec; ours are non-blocking; -1 where there is none. */
struct files {
	int ours[3];   /* write end of stdin, read ends of stdout and stderr; a pty, one output: stderr is -1 */
	int theirs[3]; /* what the task gets as fds 0, 1, 2; a pty: three times the same number; one output: twice */
	int terminal;  /* a pty: one more fd of the master; else -1 */
};

/* Lets podinit have as many fds as its hard limit allows. Call once. */
void files_raise_limit(void);

/* Puts back the limit that podinit itself was given: for the forked child. */
void files_restore_limit(void);

/* Whether there are enough fds behind `fd`, which was just opened, for podinit still to be talked to; else
 * errno is EMFILE. */
bool files_spare_left(int fd);

/* Three pipes, or two where `one_output` is stdout and stderr; `tasks` share what may be spent on large
 * ones. 0, or -1 with errno, and nothing is open. */
int files_pipes(struct files *files, uint32_t tasks, bool one_output);

/* A pseudo terminal of this size. 0, or -1 with errno, and nothing is open. */
int files_terminal(struct files *files, uint16_t rows, uint16_t columns);

/* Closes the task's ends in podinit. */
void files_close_theirs(struct files *files);

/* Closes all. */
void files_close(struct files *files);

#endif
