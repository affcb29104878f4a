/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - the forked child on its way to be the task. */
#ifndef PODINIT_CHILD_H
#define PODINIT_CHILD_H

#include <stdint.h>

#include "files.h"
#include "plan.h"

/* Makes this process task `number` and runs its command. `script` takes the place of
 * argv[0] where the plan has a script, unless script_errno says that it could not be
 * written. Ends with 127, 126 or 1, and one line on the task's stderr, when it cannot. */
_Noreturn void child_run(const struct plan *plan, uint32_t number, const struct files *files, const char *script,
			 int script_errno);

#endif
