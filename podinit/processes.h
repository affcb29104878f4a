/* SPDX-License-Identifier: Apache-2.0 */
/* processes.h - the processes that end with the step. As process 1 that is every one of the
 * container but podinit, its pumps, and its like of joined steps, which tell the ends of their
 * own tasks; else (of a joined step, in tests) podinit's own descendants. */
#ifndef PODINIT_PROCESSES_H
#define PODINIT_PROCESSES_H

#include <sys/types.h>

/* Remembers what podinit itself is. Call once. */
void processes_setup(void);

/* Sends a signal to all of them. SIGKILL and SIGSTOP miss none, not even one that forks. */
void processes_signal(int signal);

/* Kills the process `pid` if it runs podinit and is no task, as a pump. */
void processes_kill_pump(pid_t pid);

#endif
