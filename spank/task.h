/* SPDX-License-Identifier: Apache-2.0 */
/* task.h - the task on the Slurm node, in slurmstepd's child, as the user. */
#ifndef K8S_TASK_H
#define K8S_TASK_H

#include "config.h"
#include "slurm_api.h"

/* Makes the relay what Slurm will exec in place of the user's command. Returns 0 only where that
 * is certain, and for steps that are not ours; otherwise -1, after saying why: the task
 * fails with 1, and the node is untouched.
 *
 * The relay finds its socket in SLURM_K8S_RELAY_FD, and SLURM_K8S_BATCH=1 for a batch script. Its
 * arguments are those of the command, whose argv[0] is in SLURM_K8S_ARGV0; where that is not
 * set (Slurm 23.11 and later), they are "--task --" and then the whole command. */
int task_become_relay(spank_t spank, const struct config *config);

#endif
