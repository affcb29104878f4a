/* SPDX-License-Identifier: Apache-2.0 */
/* environment.h - a task's environment: the image's, overlaid by the job's. */
#ifndef PODINIT_ENVIRONMENT_H
#define PODINIT_ENVIRONMENT_H

#include <stdint.h>

#include "plan.h"

/* The environment of task `number`, NULL-ended, made once in the child that will exec:
 * strings are borrowed from the plan and from environ, nothing is ever freed.
 * `directory` becomes PWD, unless NULL. Returns NULL when there is no memory. */
char **environment_of(const struct plan *plan, uint32_t number, const char *directory);

/* The value of `name` in such an environment, or NULL. */
const char *environment_get(char *const *variables, const char *name);

#endif
