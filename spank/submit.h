/* SPDX-License-Identifier: Apache-2.0 */
/* submit.h - the side of sbatch. */
#ifndef K8S_SUBMIT_H
#define K8S_SUBMIT_H

#include <stdbool.h>

#include "config.h"
#include "slurm_api.h"

/* In sbatch, after all options are known. Returns 0 where the job may be submitted, one without
 * our options always, and -1 where not, after every fault was said. */
int submit_check(spank_t spank, const struct config *config);

/* Whether this process is sbatch. */
bool submit_is_sbatch(void);

/* Forgets that a submission was checked, for tests. */
void submit_forget(void);

#endif
