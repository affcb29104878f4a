/* SPDX-License-Identifier: Apache-2.0 */
/* output.h - what a task writes to one stream, kept until it is acknowledged. */
#ifndef PODINIT_OUTPUT_H
#define PODINIT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "watch.h"

struct task;

/* Offsets count the stream's bytes from its start:
 * acknowledged <= sent <= head <= acknowledged + size. */
struct output {
	struct watch watch; /* our end of the task's pipe; closed: the stream has ended */
	struct task *task;
	unsigned char *ring;
	size_t size; /* of ring */
	uint64_t head, sent, acknowledged;
	bool end_sent;	  /* EOF went out on this connection */
	uint64_t owed;	  /* once the task ended: bytes to be read whoever else writes */
	int64_t patience; /* when to stop reading what is beyond owed; CLOCK_NEVER: at EOF alone */
};

/* Starts a stream on `fd` (taken over, non-blocking; -1: a stream that is empty and at
 * its end) with a ring of `size` bytes. Returns 0, or -1 with errno ENOMEM, and
 * then the fd is closed. */
int output_open(struct output *output, struct task *task, int fd, size_t size);

/* How many bytes it can take. */
size_t output_room(const struct output *output);

/* Appends bytes of podinit's own, for which there is room. */
void output_append(struct output *output, const void *bytes, size_t count);

/* Appends a line of podinit's own, if there is room. */
void output_say(struct output *output, const char *line);

/* Nothing more will be read. */
bool output_ended(const struct output *output);

/* The core has all before `offset`. Returns 0, or -1: that was never sent. */
int output_acknowledge(struct output *output, uint64_t offset);

/* A new connection: what is not acknowledged is to be sent again. */
void output_rewind(struct output *output);

/* The next bytes to send, at most `limit`, as one or two pieces of the ring.
 * Returns their count, 0 when there are none. They stay until acknowledged. */
size_t output_unsent(const struct output *output, size_t limit, struct iovec pieces[2]);

/* The task has ended: what is in the pipe now is read in any case, what others still
 * write only until the stream ends or `deadline` passes. Later calls override. */
void output_bound(struct output *output, int64_t deadline);

/* Ends the stream if its patience is over. Returns when to ask again. */
int64_t output_check(struct output *output, int64_t now);

#endif
