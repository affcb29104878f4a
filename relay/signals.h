/* SPDX-License-Identifier: Apache-2.0 */
/* signals.h - signals from Slurm, on their way to the core. */
#ifndef RELAY_SIGNALS_H
#define RELAY_SIGNALS_H

#include <stdbool.h>

#include "../common/frame.h"

/* Catches every signal that can be caught. Returns an fd that is readable when one came,
 * or -1 with errno. */
int signals_open(void);

/* Reads those that came into a queue. */
void signals_read(int fd);

/* The next frame, SIGNAL or WINSIZE, with its payload of at most 4 bytes; false: none. */
bool signals_next(struct k8s_frame *frame, unsigned char payload[4]);

#endif
