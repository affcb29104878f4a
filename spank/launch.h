/* SPDX-License-Identifier: Apache-2.0 */
/* launch.h - the side of srun and salloc. */
#ifndef K8S_LAUNCH_H
#define K8S_LAUNCH_H

#include "config.h"
#include "slurm_api.h"

/* By this variable srun tells slurmstepd that it has checked the step: LAUNCH_OWN, or
 * LAUNCH_OVERLAP for a step that shares the resources of others. */
#define LAUNCH_VARIABLE "SLURM_K8S_STEP"
#define LAUNCH_OWN "own"
#define LAUNCH_OVERLAP "overlap"

/* In srun and salloc, after all options are known; `tool` is its name. Returns 0 where it may go
 * on, without our options always, and -1 where not, after every fault was said. */
int launch_check(spank_t spank, const struct config *config, const char *tool);

/* Forgets that something was checked, for tests. */
void launch_forget(void);

#endif
