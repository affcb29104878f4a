// SPDX-License-Identifier: Apache-2.0
/* What slurmctld knows about a step, as the core wants it. */
#include <errno.h>
#include <stdbool.h>

#include "host.h"
#include "row.h"
#include "slurm_api.h"

/* Renamed in 25.05. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 5, 0)
#define TRES_OF(step) ((step)->tres_fmt_alloc_str)
#else
#define TRES_OF(step) ((step)->tres_alloc_str)
#endif

/* Of several components in a plain job each has a record, all with the step's number. Those of a
 * heterogeneous job have jobs of their own, and no such number. */
static bool is_wanted(const slurm_step_id_t *id, uint32_t job_id, uint32_t step_id, const struct host_step *own)
{
	return id->job_id == job_id && id->step_id == step_id &&
	       (id->step_het_comp == NO_VAL || !own || own->component < 0 ||
		id->step_het_comp == (uint32_t)own->component);
}

int host_step_facts(uint32_t job_id, uint32_t step_id, char *out, size_t capacity, const struct host_step *own)
{
	__typeof__(slurm_get_job_steps) *load = SLURM_CALL(slurm_get_job_steps);
	__typeof__(slurm_free_job_step_info_response_msg) *release = SLURM_CALL(slurm_free_job_step_info_response_msg);
	struct row row = row_begin(out, capacity);
	job_step_info_response_msg_t *answer = NULL;
	bool found = false;
	int result;

	if (!load || !release)
		return ENOSYS;
	/* Local: else it would first ask for the federation. */
	/* Asked for a step, slurmctld tells of the first of its components alone. */
	result = load(0, job_id, own && own->component >= 0 ? NO_VAL : step_id, &answer, SHOW_ALL | SHOW_LOCAL);
	if (result)
		return host_error(result);
	for (uint32_t i = 0; answer && i < answer->job_step_count && !found; i++) {
		const job_step_info_t *step = &answer->job_steps[i];

		found = is_wanted(&step->step_id, job_id, step_id, own);
		if (!found)
			continue;
		row_put_text(&row, "tres", TRES_OF(step));
		/* slurmctld tells nobody. */
		if (own)
			row_put(&row, "overlap", "%d", own->overlap);
	}
	release(answer);
	return found ? row_end(&row) : ESLURM_INVALID_JOB_ID;
}
