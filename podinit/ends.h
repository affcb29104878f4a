/* SPDX-License-Identifier: Apache-2.0 */
/* ends.h - how tasks, the step and podinit itself come to their ends. */
#ifndef PODINIT_ENDS_H
#define PODINIT_ENDS_H

#include <stdbool.h>
#include <stdint.h>

/* Tasks were started; some may have failed to. */
void ends_after_start(void);

/* Reaps every child there is to reap. */
void ends_reap(void);

/* The kubelet wants podinit gone: tells the tasks, or notes that there are none. */
void ends_terminate(void);

/* Does what is due at this time. Returns when to be called again, or CLOCK_NEVER. */
int64_t ends_check(int64_t now);

/* Podinit has nothing left to do: exit with *code. */
bool ends_over(int64_t now, int *code);

#endif
