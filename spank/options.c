// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "say.h"

/* Slurm's names: that of the option in the environment of a job, and the prefix that sbatch
 * gives to everything of the job control environment. */
#define SLURM_OPTION(name) "_SLURM_SPANK_OPTION_" PLUGIN_NAME "_" name
#define SLURM_CARRIED "SLURM_SPANK_"

static int option_callback(int value, const char *argument, int remote);

static struct spank_option table[OPTION_COUNT] = {
	[OPTION_IMAGE] = {
		.name = "k8s-image",
		.arginfo = "IMAGE",
		.usage = "[k8s] run the script of sbatch, the tasks of srun, in Kubernetes Pods of this container "
			 "image, as in registry.example:5000/team/app:1.2",
		.has_arg = 1, .val = OPTION_IMAGE, .cb = option_callback,
	},
	[OPTION_WORKDIR] = {
		.name = "k8s-workdir",
		.arginfo = "PATH",
		.usage = "[k8s] start in this directory of the container, an absolute path, instead of the "
			 "job's own",
		.has_arg = 1, .val = OPTION_WORKDIR, .cb = option_callback,
	},
};

static const struct {
	const char *key;
	const char *variable; /* the user's */
	const char *slurm;    /* Slurm's */
} names[OPTION_COUNT] = {
	[OPTION_IMAGE] = { "image", "SLURM_K8S_IMAGE", SLURM_OPTION("k8s_image") },
	[OPTION_WORKDIR] = { "workdir", "SLURM_K8S_WORKDIR", SLURM_OPTION("k8s_workdir") },
};

static struct {
	char *value;
	enum option_source source;
} given[OPTION_COUNT];

static char *faults;

static int option_callback(int value, const char *argument, int remote)
{
	bool typed = remote || arguments_hold(argument);

	/* What is wrong is told later, all at once. An error from here would end sbatch at the
	 * first fault; in slurmstepd it would make the option count as not given, and the
	 * job run on the host. */
	options_take((enum option)value, argument, typed ? SOURCE_COMMAND : SOURCE_SCRIPT);
	return 0;
}

int options_register(spank_t spank)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		spank_err_t error = spank_option_register(spank, &table[i]);

		if (error != ESPANK_SUCCESS) {
			say_error("cannot register --%s: %s", table[i].name, spank_strerror(error));
			return -1;
		}
	}
	return 0;
}

static void check(enum option option, const char *value)
{
	const char *name = table[option].name;

	if (!*value)
		say_append(&faults, "--%s: empty value", name);
	else if (*value == '-')
		say_append(&faults, "--%s: \"%s\" starts with '-': a value is missing, write --%s=%s", name, value,
			   name, table[option].arginfo);
}

void options_take(enum option option, const char *value, enum option_source source)
{
	char *copy;

	if (!value)
		value = "";
	if (source < given[option].source)
		return;
	/* Slurm names it twice in a step. */
	if (given[option].value && !strcmp(given[option].value, value)) {
		given[option].source = source;
		return;
	}
	/* Callbacks come in rising rank, so that a value which is overruled later has been seen
	 * here too: what it swallowed would be missing. */
	check(option, value);
	copy = strdup(value);
	if (!copy) {
		say_append(&faults, "--%s: %s", table[option].name, strerror(errno));
		return;
	}
	free(given[option].value);
	given[option].value = copy;
	given[option].source = source;
}

static const char *find(char *const *environment, const char *prefix, const char *name)
{
	size_t skip = strlen(prefix), length = strlen(name);

	for (; environment && *environment; environment++)
		if (!strncmp(*environment, prefix, skip) && !strncmp(*environment + skip, name, length) &&
		    (*environment)[skip + length] == '=')
			return *environment + skip + length + 1;
	return NULL;
}

void options_take_environment(char *const *environment, bool carried)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		const char *decided = carried ? find(environment, SLURM_CARRIED, names[i].slurm) : NULL;
		const char *value = find(environment, "", names[i].variable);

		if (value && *value)
			options_take(i, value, SOURCE_ENVIRONMENT);
		if (decided && *decided)
			options_take(i, decided, SOURCE_COMMAND);
	}
}

const char *options_value(enum option option)
{
	return given[option].value;
}

enum option_source options_source(enum option option)
{
	return given[option].source;
}

const char *options_key(enum option option)
{
	return names[option].key;
}

const char *options_faults(void)
{
	return faults;
}

/* The name under which Slurm hands the job control environment on. */
static const char *carried_name(enum option option)
{
	static char name[128];

	snprintf(name, sizeof(name), SLURM_CARRIED "%s", names[option].slurm);
	return name;
}

int options_export(spank_t spank)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		const char *value = given[i].value;

		if (!value)
			continue;
		if (setenv(names[i].variable, value, 1) || setenv(names[i].slurm, value, 1) ||
		    setenv(carried_name(i), value, 1) ||
		    spank_job_control_setenv(spank, names[i].slurm, value, 1) != ESPANK_SUCCESS) {
			say_error("--%s: cannot be handed on to the job", table[i].name);
			return -1;
		}
	}
	return 0;
}

void options_withdraw(void)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		unsetenv(names[i].slurm);
		unsetenv(carried_name(i));
	}
}

void options_hide(spank_t spank)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		spank_unsetenv(spank, carried_name(i));
		spank_unsetenv(spank, names[i].slurm);
	}
}

bool options_of_job(spank_t spank, enum option option)
{
	char *value = NULL;

	return spank_option_getopt(spank, &table[option], &value) == ESPANK_SUCCESS;
}

void options_forget(void)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		free(given[i].value);
		given[i].value = NULL;
		given[i].source = SOURCE_NONE;
	}
	say_free(&faults);
}
