/* SPDX-License-Identifier: Apache-2.0 */
/* init.h - process 1. */
#ifndef PODINIT_INIT_H
#define PODINIT_INIT_H

#include "options.h"

/* Lives until the step has ended and the core has all of it. Returns the exit code. */
int init_run(const struct options *options);

#endif
