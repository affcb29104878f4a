// SPDX-License-Identifier: Apache-2.0
#include "host.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "amend.h"
#include "say.h"
#include "slurm_api.h"

/* What slurmctld makes OUT_OF_MEMORY of: the exit code that no wait status can have. */
#define CODE_OUT_OF_MEMORY 253

static const char *here;
static uint64_t memory_here;

void host_set_place(const char *node, uint64_t memory_mb)
{
	here = node;
	memory_here = memory_mb;
}

static struct host_step own;

void host_set_step(const struct host_step *step)
{
	own = *step;
}

int host_error(int result)
{
	/* Slurm's errno is the C library's in all releases. */
	if (result < 0)
		result = errno > 0 ? errno : EIO;
	return result;
}

static void log_line(int level, const char *line)
{
	switch (level) {
	case K8S_LOG_ERROR:
		say_errors(line);
		break;
	case K8S_LOG_INFO:
		say_infos(line);
		break;
	default:
		slurm_debug("k8s: %s", line);
	}
}

static int job_facts(uint32_t job_id, char *out, size_t capacity)
{
	int result = host_job_facts(job_id, out, capacity, here, memory_here);

	return result == -ERANGE ? -1 : result;
}

static int step_facts(uint32_t job_id, uint32_t step_id, char *out, size_t capacity)
{
	bool is_own = job_id == own.job && step_id == own.id;
	int result = host_step_facts(job_id, step_id, out, capacity, is_own ? &own : NULL);

	return result == -ERANGE ? -1 : result;
}

static int end_step(uint32_t job_id, uint32_t step_id)
{
	__typeof__(slurm_kill_job_step) *call = SLURM_CALL(slurm_kill_job_step);

	if (!call)
		return ENOSYS;
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
	return host_error(call(job_id, step_id, SIGKILL, 0));
#else
	return host_error(call(job_id, step_id, SIGKILL));
#endif
}

static int requeue(uint32_t job_id)
{
	__typeof__(slurm_requeue) *call = SLURM_CALL(slurm_requeue);

	return call ? host_error(call(job_id, 0)) : ENOSYS;
}

/* Returns 0, or EINVAL for a field that is not understood: guessing would lose a change. */
static int set_field(job_desc_msg_t *message, const char *field)
{
	const char *value = strchr(field, '=');
	size_t length;
	char *end;
	long long number;

	if (!value)
		return EINVAL;
	length = (size_t)(value++ - field);
	if (length == strlen("admin_comment") && !strncmp(field, "admin_comment", length)) {
		message->admin_comment = (char *)value;
		return 0;
	}
	errno = 0;
	number = strtoll(value, &end, 10);
	if (errno || end == value || *end || number < 0)
		return EINVAL;
	if (length == strlen("begin_time") && !strncmp(field, "begin_time", length))
		message->begin_time = (time_t)number;
	else if (length == strlen("requeue") && !strncmp(field, "requeue", length) && number <= 1)
		message->requeue = (uint16_t)number;
	else
		return EINVAL;
	return 0;
}

static int update(uint32_t job_id, const char *const *fields)
{
	__typeof__(slurm_init_job_desc_msg) *init = SLURM_CALL(slurm_init_job_desc_msg);
	__typeof__(slurm_update_job) *call = SLURM_CALL(slurm_update_job);
	job_desc_msg_t message;

	if (!init || !call)
		return ENOSYS;
	init(&message);
	message.job_id = job_id;
	for (; fields && *fields; fields++) {
		int error = set_field(&message, *fields);

		if (error)
			return error;
	}
	return host_error(call(&message));
}

static int complete_out_of_memory(uint32_t job_id)
{
	__typeof__(slurm_complete_job) *call = SLURM_CALL(slurm_complete_job);

	return call ? host_error(call(job_id, CODE_OUT_OF_MEMORY)) : ENOSYS;
}

const struct k8s_host *host_table(void)
{
	static const struct k8s_host table = {
		.size = sizeof(table),
		.log = log_line,
		.job_facts = job_facts,
		.requeue = requeue,
		.update = update,
		.complete_out_of_memory = complete_out_of_memory,
		.end_step = end_step,
		.step_facts = step_facts,
		.amend = host_amend,
	};

	return &table;
}
