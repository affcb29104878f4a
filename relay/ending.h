/* SPDX-License-Identifier: Apache-2.0 */
/* ending.h - ending as a task would. */
#ifndef RELAY_ENDING_H
#define RELAY_ENDING_H

/* Ends this process so that its parent sees this wait status: exits with the code, or
 * dies of the signal, without a core file. */
_Noreturn void end_as(int status);

/* Ends when the core is gone: of SIGTERM if Slurm sent that, else with 1. */
_Noreturn void end_alone(void);

#endif
