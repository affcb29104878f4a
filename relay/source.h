/* SPDX-License-Identifier: Apache-2.0 */
/* source.h - the task's standard input, on its way to the core. */
#ifndef RELAY_SOURCE_H
#define RELAY_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../common/frame.h"

/* Stdin is worth waiting for: the task runs, it has not ended, and there is room in the window. */
bool source_wanted(void);

/* One read of at most a frame's payload, to `payload`. Fills `frame` (DATA, or EOF at the
 * end or on an error) and returns true; false: nothing now. Call when stdin is ready. */
bool source_read(struct k8s_frame *frame, unsigned char payload[K8S_FRAME_PAYLOAD]);

/* The core says that the task has all before `offset`. Returns 0, or -1: it cannot. */
int source_acknowledge(uint64_t offset);

#endif
