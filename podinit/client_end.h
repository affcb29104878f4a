/* SPDX-License-Identifier: Apache-2.0 */
/* client_end.h - signals and terminal of the caller, and its end as the command's. */
#ifndef PODINIT_CLIENT_END_H
#define PODINIT_CLIENT_END_H

#include <signal.h>

/* Catches what the command is to get. Returns an fd that is readable when one came, or -1. */
int client_catch_signals(void);

/* In a child: all are as they were before. */
void client_release_signals(void);

/* The next that came, or 0. SIGCHLD is one, too. */
int client_next_signal(int fd);

/* Stdin's terminal becomes a mere wire: the one on the Slurm node echoes and edits. */
void client_raw_terminal(void);

/* Ends this process so that its parent sees this wait status. */
_Noreturn void client_end(int status);

/* Ends it with 1, after a line. */
_Noreturn void client_give_up(const char *name, const char *why);

#endif
