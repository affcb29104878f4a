/* SPDX-License-Identifier: Apache-2.0 */
/* surroundings.h - the environment and the directory of a real command. The image's must not
 * rule what runs on the Slurm node: LD_PRELOAD, PATH, HOME and the like. */
#ifndef RELAY_SURROUNDINGS_H
#define RELAY_SURROUNDINGS_H

#include <stdbool.h>
#include <stddef.h>

/* Makes the environment of what the caller has (`count` strings NAME=value): this node's and the
 * job's own, those of Slurm's variables that the caller has, and all others of the caller's with
 * K8S_CARRIED_PREFIX before them. `directory` is the caller's, `one` a variable more; either may be NULL. In the child, once; strings
 * are borrowed, nothing is freed. NULL: no memory. */
char **surroundings_of(char *const *caller, size_t count, const char *directory, const char *one);

/* Whether a variable of salloc's environment, NAME=value, is for its COMMAND in the Pod. */
bool surroundings_tell(const char *variable);

/* Enters the caller's directory where the Slurm node has it, else HOME, else the root. */
void surroundings_enter(const char *directory);

#endif
