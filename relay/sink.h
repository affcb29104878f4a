/* SPDX-License-Identifier: Apache-2.0 */
/* sink.h - where output goes: the files or pipes that Slurm gave the task. */
#ifndef RELAY_SINK_H
#define RELAY_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Offsets from the stream's start: written <= have <= written + size. What the file takes
 * at once never goes through the ring. */
struct sink {
	int fd;
	unsigned char *ring;
	size_t size; /* of ring */
	uint64_t have, written;
	uint64_t told; /* the offset of the last acknowledgement */
	bool failed;   /* writing failed for good: the rest is swallowed, and acknowledged */
};

/* Stdout, stderr, and the core's notices, which go to stderr too and are not
 * acknowledged; by enum k8s_stream, [0] is unused. */
extern struct sink sinks[4];

/* Makes the three. Pipes and terminals are set to non-blocking, so that a slow reader does not
 * keep signals and heartbeats waiting. */
void sinks_open(void);

/* Puts the files' flags back as they were. */
void sinks_close(void);

/* Takes bytes of stdout or stderr at `offset`. Returns 0, or -1: the core left a gap or
 * sent more than its window. */
int sink_take(int stream, uint64_t offset, const unsigned char *bytes, size_t count);

/* Takes a notice; drops it where too many wait already, as nobody acknowledges them. */
void sink_notice(const unsigned char *bytes, size_t count);

/* There is something to write to sink's file. */
bool sink_waits(const struct sink *sink);

/* Writes what the file takes now. */
void sink_write(struct sink *sink);

/* Nothing waits in any of them. */
bool sinks_empty(void);

#endif
