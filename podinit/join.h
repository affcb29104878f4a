/* SPDX-License-Identifier: Apache-2.0 */
/* join.h - a step of tasks in a container that another step's podinit is process 1 of. */
#ifndef PODINIT_JOIN_H
#define PODINIT_JOIN_H

#include "options.h"

/* Begins a process of its own beside process 1, which lives as process 1 does: its pumps find
 * it by the session. Returns 0 once it listens, also where one of this session did before; else
 * the exit code, after a line on stderr. */
int join_run(const struct options *options);

#endif
