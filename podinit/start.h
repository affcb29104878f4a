/* SPDX-License-Identifier: Apache-2.0 */
/* start.h - from START to running tasks, once. */
#ifndef PODINIT_START_H
#define PODINIT_START_H

#include "../common/frame.h"

/* Takes a piece of START; the last one starts the tasks. After that START is answered
 * and ignored. Returns 0, or -1 after a line: it cannot be understood, nothing was started. */
int start_take(const struct k8s_frame *frame);

/* Discards the pieces that came. */
void start_forget(void);

#endif
