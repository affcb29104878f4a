/* SPDX-License-Identifier: Apache-2.0 */
/* epilog.h - after a job on this node, in a process of its own, as root. */
#ifndef K8S_EPILOG_H
#define K8S_EPILOG_H

#include "config.h"
#include "slurm_api.h"

/* Removes what the job left from this node, where it had the option or a marker is there. Never
 * fails: a failing epilog drains the node. */
void epilog_run(spank_t spank, const struct config *config);

#endif
