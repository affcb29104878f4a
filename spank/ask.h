/* SPDX-License-Identifier: Apache-2.0 */
/* ask.h - the core's word on a submission, in the tool (sbatch, srun, salloc). */
#ifndef K8S_ASK_H
#define K8S_ASK_H

#include <stdbool.h>

#include "config.h"
#include "fields.h"

/* Takes over a validate request, and says what the core finds. Returns false where it refuses or
 * cannot be had; true too where it cannot live here or does not answer in time, after
 * saying so: the checks are a help, and the run repeats those that count. */
bool ask_core(const struct config *config, struct fields *fields);

#endif
