// SPDX-License-Identifier: Apache-2.0
/* Slurm's own functions, as slurm_symbol finds them, and its log. */
#define _GNU_SOURCE
#include "spank_host.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_log(const char *tag, const char *format, va_list arguments)
{
	size_t at = strlen(host.log);

	at += (size_t)snprintf(host.log + at, sizeof(host.log) - at, "%s ", tag);
	vsnprintf(host.log + at, sizeof(host.log) - at - 1, format, arguments);
	strcat(host.log, "\n");
}

#define LOGGER(name, tag)                     \
	void name(const char *format, ...)    \
	{                                     \
		va_list arguments;            \
		va_start(arguments, format);  \
		add_log(tag, format, arguments); \
		va_end(arguments);            \
	}
LOGGER(slurm_error, "E")
LOGGER(slurm_info, "I")
LOGGER(slurm_debug, "D")

static int fake_load_job(job_info_msg_t **answer, uint32_t job_id, uint16_t flags)
{
	(void)job_id;
	assert_int_equal(flags, SHOW_DETAIL | SHOW_LOCAL);
	errno = host.fake_errno;
	if (host.load_rc)
		return host.load_rc;
	*answer = calloc(1, sizeof(**answer));
	(*answer)->record_count = 1;
	(*answer)->job_array = &host.job_info;
	return 0;
}

static void fake_free_job(job_info_msg_t *answer)
{
	free(answer);
}

static int fake_requeue(uint32_t job_id, uint32_t flags)
{
	assert_int_equal(flags, 0);
	host.requeued = job_id;
	return host.requeue_rc;
}

static void fake_init_desc(job_desc_msg_t *message)
{
	memset(message, 0, sizeof(*message));
	message->requeue = NO_VAL16;
}

static int fake_update(job_desc_msg_t *message)
{
	host.updated = *message;
	snprintf(host.updated_comment, sizeof(host.updated_comment), "%s",
		 message->admin_comment ? message->admin_comment : "");
	errno = host.fake_errno;
	return host.update_rc;
}

static int fake_complete(uint32_t job_id, uint32_t code)
{
	host.completed = job_id;
	host.completed_code = code;
	return host.complete_rc;
}

static int fake_get_steps(time_t since, uint32_t job_id, uint32_t step_id, job_step_info_response_msg_t **answer,
			  uint16_t flags)
{
	(void)flags;
	assert_int_equal(since, 0);
	assert_int_equal(job_id, 42);
	host.asked_step = step_id;
	errno = host.fake_errno;
	if (host.steps_rc)
		return host.steps_rc;
	*answer = calloc(1, sizeof(**answer));
	(*answer)->job_step_count = 1;
	(*answer)->job_steps = &host.step_info;
	return 0;
}

static void fake_free_steps(job_step_info_response_msg_t *answer)
{
	free(answer);
}

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
static int fake_kill_step(uint32_t job_id, uint32_t step_id, uint16_t number, uint16_t flags)
#else
static int fake_kill_step(uint32_t job_id, uint32_t step_id, uint16_t number)
#endif
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
	assert_int_equal(flags, 0);
#endif
	host.ended_job = job_id;
	host.ended_step = step_id;
	host.end_signal = number;
	errno = host.fake_errno;
	return host.end_rc;
}

static hostlist_t fake_hostlist(const char *text)
{
	(void)text;
	return (hostlist_t)host.hostlist;
}

static int fake_find(hostlist_t list, const char *name)
{
	char **names = (char **)list;

	for (int i = 0; names[i]; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

static void fake_destroy(hostlist_t list)
{
	(void)list;
}

static int fake_cpus(job_resources_t *resources, const char *node)
{
	(void)resources;
	(void)node;
	return host.cpus_on_node;
}

static char *fake_state(uint32_t state)
{
	return state == JOB_RUNNING ? "RUNNING" : state == JOB_CANCELLED ? "CANCELLED" : "WRONG";
}

static char *fake_option_get(void *opt, const char *name)
{
	assert_non_null(opt);
	return (char *)fake_find_pair(host.tool, name);
}

static int fake_option_set(void *opt, const char *name, const char *value, bool early)
{
	assert_non_null(opt);
	assert_false(early);
	fake_set(host.tool, name, value);
	return host.option_set_rc;
}

static bool fake_option_is_set(void *opt, const char *name)
{
	assert_non_null(opt);
	return fake_find_pair(host.tool, name);
}

static spank_err_t fake_prepend(spank_t spank, int argc, const char **argv)
{
	(void)spank;
	for (int i = 0; i < argc; i++)
		host.prepended[i] = i ? argv[i] : strdup(argv[i]);
	return ESPANK_SUCCESS;
}

static slurm_conf_t fake_conf = { .cluster_name = "testcluster", .mpi_default = "pmix" };

void *slurm_symbol(const char *name)
{
	static const struct {
		const char *name;
		void *address;
	} symbols[] = {
		{ "slurm_load_job", fake_load_job },
		{ "slurm_free_job_info_msg", fake_free_job },
		{ "slurm_requeue", fake_requeue },
		{ "slurm_init_job_desc_msg", fake_init_desc },
		{ "slurm_update_job", fake_update },
		{ "slurm_complete_job", fake_complete },
		{ "slurm_get_job_steps", fake_get_steps },
		{ "slurm_free_job_step_info_response_msg", fake_free_steps },
		{ "slurm_kill_job_step", fake_kill_step },
		{ "slurm_hostlist_create", fake_hostlist },
		{ "slurm_hostlist_find", fake_find },
		{ "slurm_hostlist_destroy", fake_destroy },
		{ "slurm_job_cpus_allocated_on_node", fake_cpus },
		{ "slurm_job_state_string", fake_state },
		{ "slurm_option_get", fake_option_get },
		{ "slurm_option_isset", fake_option_is_set },
		{ "slurm_option_set", fake_option_set },
		{ "slurm_conf", &fake_conf },
		{ "opt", &host },
	};

	if (host.more_symbols && host.more_symbols(name))
		return host.more_symbols(name);
	if (!strcmp(name, "sbopt"))
		return host.is_sbatch ? &host : NULL;
	if (!strcmp(name, "spank_prepend_task_argv"))
		return host.has_prepend ? fake_prepend : NULL;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
		if (!strcmp(name, symbols[i].name))
			return symbols[i].address;
	return NULL;
}
