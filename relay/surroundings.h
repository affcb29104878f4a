/* SPDX-License-Identifier: Apache-2.0 */
/* surroundings.h - the environment and the directory of a real command. The image's must not
 * rule what runs on the Slurm node: LD_PRELOAD, PATH, HOME and the like. */
#ifndef RELAY_SURROUNDINGS_H
#define RELAY_SURROUNDINGS_H

#include <stddef.h>

/* Makes the environment of what the caller has (`count` strings NAME=value): this node's and the
 * job's own, those of Slurm's variables that the caller has, and all others of the caller's with
 * K8S_CARRIED_PREFIX before them. `directory` is the caller's, or NULL. In the child, once; strings
 * are borrowed, nothing is freed. NULL: no memory. */
char **surroundings_of(char *const *caller, size_t count, const char *directory);

/* Enters the caller's directory where the Slurm node has it, else HOME, else the root. */
void surroundings_enter(const char *directory);

#endif
