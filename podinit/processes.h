/* SPDX-License-Identifier: Apache-2.0 */
/* processes.h - all processes of the container but podinit and its pumps. As process 1
 * that is every one there is; else (in tests) podinit's own descendants. */
#ifndef PODINIT_PROCESSES_H
#define PODINIT_PROCESSES_H

#include <sys/types.h>

/* Remembers what podinit itself is. Call once. */
void processes_setup(void);

/* Sends a signal to all of them. SIGKILL and SIGSTOP miss none, not even one that forks. */
void processes_signal(int signal);

/* Kills the process `pid` if it is a pump. */
void processes_kill_pump(pid_t pid);

#endif
