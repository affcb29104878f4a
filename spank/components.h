/* SPDX-License-Identifier: Apache-2.0 */
/*
 * components.h - which component of a heterogeneous job or step the tool's parser is at.
 *
 * sbatch, salloc and srun read the options of one component after the other, and call init_post_opt
 * after each; SPANK has no word for it. So this follows the parser: a part of the command line ends
 * at a ':'. One part is several components where srun's --het-group names several, or where the job
 * file has lines "#SBATCH hetjob".
 */
#ifndef K8S_COMPONENTS_H
#define K8S_COMPONENTS_H

#include <stdbool.h>

/* Slurm's own limit. */
#define COMPONENTS_MAX 128

/* The number of the component whose options were read last, from 0 on. */
int components_here(void);

/* Whether there are several, as far as can be seen from the first of them. */
bool components_are_several(void);

/* Word `index` of this component's part of the command line, as getopt counts them, or NULL. */
const char *components_word(int index);

/* The component of the job's that srun starts this one in. Only in srun. */
int components_group(void);

/* Whether the command line, or the environment before the first component, has anything of ours. */
bool components_are_touched(void);

/* What the environment had of ours before the first component changed it: NULL-ended, static. */
char *const *components_environment(void);

/* At the end of init_post_opt: the next call is the next component's. */
void components_next(void);

/* Member `index` of the list `text`, "0,2-4" or the same in brackets, in rising order, each once; *count:
 * how many there are. -1 where there is no such member, and *count 0 where it is no list. */
int components_member(const char *text, int index, int *count);

/* At the first component again, for tests. */
void components_forget(void);

#endif
