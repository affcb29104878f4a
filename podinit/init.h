/* SPDX-License-Identifier: Apache-2.0 */
/* init.h - process 1, and its like of a step that joins the container (join.h). */
#ifndef PODINIT_INIT_H
#define PODINIT_INIT_H

#include "options.h"

/* The exit code where it could not be set up. */
#define EXIT_INTERNAL 70

/* Makes all that the life needs, to the socket that listens. Returns 0, or -1 after a line. */
int init_setup(const struct options *options);

/* Lives, once set up, until the step has ended and the core has all of it. Returns the exit code. */
int init_live(void);

/* Both. Lives until the step has ended and the core has all of it. Returns the exit code. */
int init_run(const struct options *options);

#endif
