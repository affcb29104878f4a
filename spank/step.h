/* SPDX-License-Identifier: Apache-2.0 */
/* step.h - a step in its slurmstepd: what it asked for, and its life in the parent. */
#ifndef K8S_STEP_H
#define K8S_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "component_options.h"
#include "config.h"
#include "slurm_api.h"

/* All that the callbacks of one slurmstepd share; the children inherit it as it was at the fork. */
struct step {
	pid_t pid;	     /* of the parent */
	bool is_ours;	     /* the step asked for a Pod */
	bool is_batch;	     /* it is the job's script; else it is a numbered step */
	bool is_checked;     /* by srun, numbered steps */
	bool is_overlap;     /* srun --overlap */
	bool is_bound;	     /* srun was told how to bind tasks to cpus */
	struct component component;
	bool is_legacy;	     /* ... in comment lines */
	uint32_t job, id;    /* Slurm's numbers */
	uint32_t node;	     /* this node's number in the step */
	char name[40];	     /* for people: "42", "42.0", "42.0+1" of a component */
	char place[40];	     /* "0.1", step and node, "0.1.2" of component 2; empty for a batch script */
	uint32_t tasks;	     /* local */
	int (*pairs)[2];     /* per task: ours, the relay's; -1 where closed */
	int commands[2];     /* of Slurm's commands in the Pod: ours, the first relay's; -1 where closed or none */
	char *fault;	     /* why its tasks cannot run; told by the tasks */
	char *legacy_script; /* K8S_SCRIPT of the comments */
	bool has_command;    /* the job file has a command of its own */
	int handle;	     /* of the core, 0 where it was not started */
};

/* The step of this process. */
struct step *step_here(void);

/* Of the parent, in this order. None of them ever fails: where the parent fails, Slurm drains the
 * node and calls the job COMPLETED. What goes wrong is told by the task. */
void step_init(void);
/* init_post_opt: decides whether the step is ours, and makes the sockets. */
void step_prepare(spank_t spank, const struct config *config);
/* task_post_fork: for local task 0, when all tasks are forked and wait, starts the core. */
void step_start(spank_t spank, const struct config *config);
/* exit: ends what the core runs, within a bound. */
void step_finish(const struct config *config);

/* Forgets all, for tests. */
void step_forget(void);

#endif
