/* SPDX-License-Identifier: Apache-2.0 */
/*
 * component_options.h - how each component of a heterogeneous job or step comes to its own options.
 *
 * Slurm keeps one table of SPANK options and one environment for all of them. So salloc leaves the
 * options of components 1 and up to its environment, as SLURM_K8S_IMAGE_HET_GROUP_1 and so on, where
 * an srun --het-group finds them; and srun hands each component of a step its own in a variable that
 * goes to this component alone, since --export is an option that each has for itself. sbatch has made
 * the script's environment before it reads a second component: there the first one's count for all.
 */
#ifndef K8S_COMPONENT_OPTIONS_H
#define K8S_COMPONENT_OPTIONS_H

#include <stdbool.h>

#include "slurm_api.h"

/* What srun's variable says beside the options. */
struct component {
	bool is_one;	/* there was such a variable */
	int number;	/* in the step: unique in it */
	int group;	/* of the job; of a step with several components in a plain job, Slurm's number of it */
	bool is_checked; /* by srun; false where it has no Pod */
	bool is_overlap;
};

/* sbatch, salloc and srun, at both ends of init_post_opt: takes what the environment has for this
 * component, and lets lines begin with its number where there are several. */
void component_begin(void);
void component_end(void);

/* Lets lines begin so again. */
void component_say_place(void);

/* salloc, for each component, and sbatch for the first: puts the options into the tool's environment,
 * the first one's under all names, as options_export does. Returns 0, or -1. */
int component_export(spank_t spank);

/* sbatch, for a later component: what was typed for it and cannot be heeded; and the first one's options
 * again where Slurm has put this one's. Returns 0, or -1. */
void component_find_typed(char **faults);
int component_keep_first(spank_t spank);

/* srun, for each component of several. Returns 0, or -1 after it was said. */
int component_hand_over(bool is_checked, bool is_overlap);

/* srun's --export of this component without what hand_over put there for an earlier one; "ALL" where it
 * was not typed. */
const char *component_typed_export(void);

/* slurmstepd: takes the variable out of the step's environment, and its options for the only ones.
 * Returns 0, or -1 where it cannot be read. */
int component_take(spank_t spank, struct component *component);

/* The two halves of that: a text to be freed, or NULL without memory; and back from it: 0, or -1 where
 * it is none, and then nothing of it counts. */
char *component_encode(const struct component *component);
int component_decode(const char *text, struct component *component);

/* Forgets the first component's options, for tests. */
void component_forget(void);

#endif
