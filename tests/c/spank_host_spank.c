// SPDX-License-Identifier: Apache-2.0
/* What SPANK answers. */
#define _GNU_SOURCE
#include "spank_host.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

spank_context_t spank_context(void)
{
	return host.context;
}

const char *spank_strerror(spank_err_t error)
{
	return error == ESPANK_SUCCESS ? "success" : "fault";
}

spank_err_t spank_option_register(spank_t spank, struct spank_option *option)
{
	assert_ptr_equal(spank, SP);
	if (host.register_fails)
		return ESPANK_BAD_ARG;
	host.options[host.option_count++] = option;
	return ESPANK_SUCCESS;
}

spank_err_t spank_option_getopt(spank_t spank, struct spank_option *option, char **argument_out)
{
	(void)spank;
	/* As Slurm: only there. */
	if (host.context != S_CTX_JOB_SCRIPT)
		return ESPANK_NOT_AVAIL;
	if (!host.epilog_image || strcmp(option->name, "k8s-image"))
		return ESPANK_ERROR;
	*argument_out = (char *)host.epilog_image;
	return ESPANK_SUCCESS;
}

spank_err_t spank_getenv(spank_t spank, const char *name, char *buffer, int length)
{
	const char *value = fake_env(name);

	(void)spank;
	if (!value)
		return ESPANK_ENV_NOEXIST;
	snprintf(buffer, length, "%s", value);
	return strlen(value) >= (size_t)length ? ESPANK_NOSPACE : ESPANK_SUCCESS;
}

spank_err_t spank_setenv(spank_t spank, const char *name, const char *value, int overwrite)
{
	(void)spank;
	assert_int_equal(overwrite, 1);
	if (host.setenv_fails)
		return ESPANK_ERROR;
	fake_set(host.env, name, value);
	return ESPANK_SUCCESS;
}

spank_err_t spank_unsetenv(spank_t spank, const char *name)
{
	(void)spank;
	for (int i = 0; i < FAKE_MAX; i++)
		if (host.env[i].name && !strcmp(host.env[i].name, name))
			host.env[i].name[0] = '\0';
	return ESPANK_SUCCESS;
}

spank_err_t spank_job_control_unsetenv(spank_t spank, const char *name)
{
	(void)spank;
	fake_set(host.control, name, NULL);
	return ESPANK_SUCCESS;
}

spank_err_t spank_job_control_setenv(spank_t spank, const char *name, const char *value, int overwrite)
{
	(void)spank;
	assert_int_equal(overwrite, 1);
	if (host.setenv_fails)
		return ESPANK_ERROR;
	fake_set(host.control, name, value);
	return ESPANK_SUCCESS;
}

static char *env_vector[FAKE_MAX];
static char env_text[FAKE_MAX][512];

static char **vector_of_env(void)
{
	int n = 0;

	for (int i = 0; i < FAKE_MAX; i++)
		if (host.env[i].name && *host.env[i].name) {
			snprintf(env_text[n], sizeof(env_text[n]), "%s=%s", host.env[i].name, host.env[i].value);
			env_vector[n] = env_text[n];
			n++;
		}
	env_vector[n] = NULL;
	return env_vector;
}

static spank_err_t get_remote(spank_item_t item, va_list out)
{
	switch (item) {
	case S_JOB_GID:
		*va_arg(out, gid_t *) = host.gid;
		return ESPANK_SUCCESS;
	case S_JOB_STEPID:
		*va_arg(out, uint32_t *) = host.step;
		return ESPANK_SUCCESS;
	case S_JOB_NNODES:
		*va_arg(out, uint32_t *) = host.nodes;
		return ESPANK_SUCCESS;
	case S_JOB_NODEID:
		*va_arg(out, uint32_t *) = host.node;
		return ESPANK_SUCCESS;
	case S_JOB_LOCAL_TASK_COUNT:
		*va_arg(out, uint32_t *) = host.tasks;
		return ESPANK_SUCCESS;
	case S_JOB_NCPUS:
		*va_arg(out, uint16_t *) = host.cpus;
		return ESPANK_SUCCESS;
	case S_STEP_ALLOC_MEM:
		*va_arg(out, uint64_t *) = host.step_memory;
		return ESPANK_SUCCESS;
	case S_JOB_ALLOC_MEM:
		*va_arg(out, uint64_t *) = host.job_memory;
		return ESPANK_SUCCESS;
	case S_JOB_SUPPLEMENTARY_GIDS:
		*va_arg(out, gid_t **) = host.gids;
		*va_arg(out, int *) = host.gid_count;
		return ESPANK_SUCCESS;
	case S_JOB_ARGV:
		*va_arg(out, int *) = host.argv[0] ? 1 : 0;
		*va_arg(out, char ***) = host.argv;
		return ESPANK_SUCCESS;
	case S_JOB_ENV:
		*va_arg(out, char ***) = vector_of_env();
		return ESPANK_SUCCESS;
	case S_TASK_ID:
		*va_arg(out, int *) = host.task;
		return host.task < 0 ? ESPANK_NOT_TASK : ESPANK_SUCCESS;
	default:
		return ESPANK_BAD_ARG;
	}
}

spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...)
{
	spank_err_t error = ESPANK_SUCCESS;
	va_list out;

	assert_ptr_equal(spank, SP);
	if (host.items_fail || (host.context != S_CTX_REMOTE && host.context != S_CTX_JOB_SCRIPT))
		return ESPANK_NOT_AVAIL;
	va_start(out, item);
	if (item == S_JOB_ID)
		*va_arg(out, uint32_t *) = host.job;
	else if (item == S_JOB_UID)
		*va_arg(out, uid_t *) = host.uid;
	else
		error = host.context == S_CTX_REMOTE ? get_remote(item, out) : ESPANK_NOT_AVAIL;
	va_end(out);
	return error;
}
