/* SPDX-License-Identifier: Apache-2.0 */
/* bounded.h - a call that is not waited for longer than some seconds. */
#ifndef K8S_BOUNDED_H
#define K8S_BOUNDED_H

/* Calls call(argument) in a thread of its own and waits for it at most `seconds`. Returns 0 when
 * it has ended, with what it returned in *result. Otherwise an errno: ETIMEDOUT when it
 * still runs, and then `argument` must live on; another when it never began. */
int bounded_call(int (*call)(void *), void *argument, unsigned seconds, int *result);

#endif
