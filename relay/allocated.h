/* SPDX-License-Identifier: Apache-2.0 */
/* allocated.h - the relay's third life, `relay --allocated COMMAND...`: what a salloc that was called
 * in the Pod runs on the Slurm node in the place of COMMAND. The plugin puts it there
 * (spank/allocate.h). It tells the caller of the allocation and of the signals that salloc sends,
 * and ends as COMMAND does; include/commands.h has the bytes. It never runs COMMAND. */
#ifndef RELAY_ALLOCATED_H
#define RELAY_ALLOCATED_H

#include <stdbool.h>

/* Whether this process was called so. */
bool allocated_called(int argc, char **argv);

/* Ends as COMMAND does; with 1, after a line, where it cannot be told of. */
_Noreturn void allocated_run(int argc, char **argv);

#endif
