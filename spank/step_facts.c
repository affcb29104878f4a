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

int host_step_facts(uint32_t job_id, uint32_t step_id, char *out, size_t capacity, int overlap)
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
	result = load(0, job_id, step_id, &answer, SHOW_ALL | SHOW_LOCAL);
	if (result)
		return host_error(result);
	for (uint32_t i = 0; answer && i < answer->job_step_count && !found; i++) {
		const job_step_info_t *step = &answer->job_steps[i];

		found = step->step_id.job_id == job_id && step->step_id.step_id == step_id;
		if (!found)
			continue;
		row_put_text(&row, "tres", TRES_OF(step));
		/* slurmctld tells nobody. */
		if (overlap >= 0)
			row_put(&row, "overlap", "%d", overlap);
	}
	release(answer);
	return found ? row_end(&row) : ESLURM_INVALID_JOB_ID;
}
