/* SPDX-License-Identifier: Apache-2.0 */
/* inside.h - a tool that was called in a Pod, and runs here for its caller (include/commands.h). */
#ifndef K8S_INSIDE_H
#define K8S_INSIDE_H

#include "slurm_api.h"

/* Takes the image of the caller's Pod as the default, below every other word, and notes in the
 * environment what of it the tool's own options overrule. Nothing where the tool was not called so. */
void inside_enter(void);

/* What the tool starts stays on the Slurm node: it is not inside any more, nor is what that starts. */
void inside_leave(void);

/* Says what of this component's options cannot be, where several are started so. */
void inside_find_faults(char **faults);

/* slurmstepd: the same as inside_leave for the one component of a step that has no Pod. */
void inside_hide(spank_t spank);

#endif
