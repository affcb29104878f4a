/* SPDX-License-Identifier: Apache-2.0 */
/* client_allocated.h - salloc's COMMAND, which runs in the Pod as a child of the caller: with its
 * streams, terminal and directory, and the allocation's variables. See include/commands.h. */
#ifndef PODINIT_CLIENT_ALLOCATED_H
#define PODINIT_CLIENT_ALLOCATED_H

#include <stdbool.h>
#include <stddef.h>

/* Whether COMMAND will share a terminal with us as a job of its shell does: stdin is one, and we are
 * in its foreground. */
bool allocated_is_interactive(void);

/* Takes the bytes of an ALLOCATED message: starts COMMAND, or signals it. Returns NULL, or a line why
 * it cannot go on. */
const char *allocated_take(const unsigned char *bytes, size_t count);

/* Whether COMMAND runs. */
bool allocated_runs(void);

/* After a SIGCHLD or a message: whether COMMAND has ended just now, and then its wait status. The terminal
 * is as before. One that salloc has begin when it was told to end was never run, and has died of that signal. */
bool allocated_ended(int *status);

/* We were sent this signal, which salloc gets too: of some it gives the allocation back, and after SIGHUP it
 * does not wait for COMMAND. */
void allocated_signal(int number);

/* salloc has ended with this wait status, or, where `lost`, nobody knows how. Where COMMAND still runs
 * it gets what salloc may have sent when nobody could be told any more. */
void allocated_leave(int status, bool lost);

#endif
