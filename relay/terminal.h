/* SPDX-License-Identifier: Apache-2.0 */
/* terminal.h - the terminal that Slurm gave the task: a mere wire here, as the one in the
 * Pod echoes and edits lines. */
#ifndef RELAY_TERMINAL_H
#define RELAY_TERMINAL_H

#include <stdbool.h>

/* Until the task runs: nothing is echoed and what is typed waits, but Ctrl-C is still a signal,
 * and a notice ends its line. */
void terminal_wait(void);

/* Sets stdin's terminal to raw: from now on all is the task's. */
void terminal_raw(void);

/* Whether a newline is no more than that. */
bool terminal_is_raw(void);

/* Puts it back as it was. Harmless when it never was changed. */
void terminal_restore(void);

#endif
