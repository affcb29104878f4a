/* SPDX-License-Identifier: Apache-2.0 */
/* host.h - what the core may ask of this process: the table of include/gocore.h. */
#ifndef K8S_HOST_H
#define K8S_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../include/gocore.h"

/* The table; static. Its functions may be called from any thread. */
const struct k8s_host *host_table(void);

/* Says on which node this process runs, and how much memory Slurm gave the job there (0: not
 * known), before the core is started. `node` is borrowed for good. */
void host_set_place(const char *node, uint64_t memory_mb);

/* What this process knows of the numbered step that it runs, and slurmctld does not say. */
struct host_step {
	uint32_t job, id;
	bool overlap;  /* by srun --overlap */
	int component; /* its number where several of one job have this step's number, else -1 */
};

/* Says so before the core is started. */
void host_set_step(const struct host_step *step);

/* What a call of Slurm's says went wrong: some return the error, others -1 and leave it in errno.
 * To be asked at once. 0 for success, else > 0. */
int host_error(int result);

/* facts.c: the job_facts of the table, but for one more result: -ERANGE, when `capacity` is too
 * small. */
int host_job_facts(uint32_t job_id, char *out, size_t capacity, const char *node, uint64_t memory_mb);

/* step_facts.c: the step_facts of the table, with the same one more result. `own`:
 * what this process knows of it, or NULL. */
int host_step_facts(uint32_t job_id, uint32_t step_id, char *out, size_t capacity, const struct host_step *own);

#endif
