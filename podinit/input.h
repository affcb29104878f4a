/* SPDX-License-Identifier: Apache-2.0 */
/* input.h - what the core sends for a task's stdin, until the task's pipe has taken it. */
#ifndef PODINIT_INPUT_H
#define PODINIT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "watch.h"

struct task;

/* Offsets from the stream's start: written <= have <= written + K8S_INPUT_WINDOW. */
struct input {
	struct watch watch; /* our end of the task's stdin; closed: bytes are swallowed */
	struct task *task;
	unsigned char *ring; /* NULL until the first byte comes: most tasks get none */
	uint64_t have, written;
	uint64_t told; /* the last acknowledgement that went out on this connection */
	bool ending;   /* EOF has come: close behind the last byte */
	bool terminal; /* the fd is a terminal: end of file is a character */
};

/* Starts on `fd` (taken over, non-blocking; -1: swallow all). */
void input_open(struct input *input, struct task *task, int fd, bool terminal);

/* Takes bytes that stand at `offset`; those it has already are skipped. Returns 0, or -1
 * for what a right core never sends: a gap, more than the window, bytes behind the end. */
int input_take(struct input *input, uint64_t offset, const unsigned char *bytes, size_t count);

/* The stream ends at `offset`. Returns 0, or -1: that is not its length. */
int input_end(struct input *input, uint64_t offset);

/* The task is gone: swallow what is left and what comes. */
void input_abandon(struct input *input);

#endif
