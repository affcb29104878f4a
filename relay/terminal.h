/* SPDX-License-Identifier: Apache-2.0 */
/* terminal.h - the terminal that Slurm gave the task: a mere wire here, as the one in the
 * Pod echoes and edits lines. */
#ifndef RELAY_TERMINAL_H
#define RELAY_TERMINAL_H

/* Sets stdin's terminal to raw. */
void terminal_raw(void);

/* Puts it back as it was. Harmless when it never was raw. */
void terminal_restore(void);

#endif
