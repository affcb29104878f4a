/* SPDX-License-Identifier: Apache-2.0 */
/* launch.h - how the relay was called. Either
 *    [anything] original-argv[1..]      with SLURM_K8S_ARGV0=original-argv[0], or
 *    [anything] --task -- original-argv...
 * and in both SLURM_K8S_RELAY_FD=N, the socket to the core, and SLURM_K8S_BATCH=1
 * where the original argv[0] is the job's script, SLURM_K8S_COMMANDS_FD=N of the first task,
 * see spawn.h, and SLURM_K8S_PULL_FILE=PATH where the user's Docker configuration is to be sent. */
#ifndef RELAY_LAUNCH_H
#define RELAY_LAUNCH_H

#include "relay.h"

/* Reads argv and the environment, and takes its own variables out of it. Strings are
 * borrowed from both. Returns 0, or -1 after a line on stderr. */
int launch_read(struct launch *launch, int argc, char **argv);

#endif
