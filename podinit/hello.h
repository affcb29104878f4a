/* SPDX-License-Identifier: Apache-2.0 */
/* hello.h - podinit's hello: its state, its version, and the input each task has. */
#ifndef PODINIT_HELLO_H
#define PODINIT_HELLO_H

#include <stdbool.h>

#include "../common/buffer.h"
#include "outbox.h"

/* All zero: nothing to say. */
struct hello {
	struct k8s_buffer records;
	size_t at; /* how much of it was sent */
	bool due;
};

/* Writes down the state as it is now, to be sent. Returns 0, or -1: no memory. */
int hello_make(struct hello *hello);

/* The next frame of it: 1 and `outgoing`, whose payload stays until the next call or
 * hello_clear; 0: all was sent. */
int hello_next(struct hello *hello, struct outgoing *outgoing);

/* Frees it. */
void hello_clear(struct hello *hello);

#endif
