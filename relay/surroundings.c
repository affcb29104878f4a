// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "surroundings.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../include/commands.h"
#include "rules.h"

/* What a command has of this process's environment, which is that of the job's script or task on
 * the Slurm node. A '*' stands for any rest. */
static const char *const own[] = {
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR", "KRB5CCNAME",
	"SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_JWT", "SLURM_SACK_*", "SLURM_JOB_GPUS", "SLURM_STEP_GPUS",
	"_SLURM_SPANK_OPTION_*", "SLURM_SPANK__SLURM_SPANK_OPTION_*", NULL,
};

/* What Slurm's commands themselves listen to, */
static const char *const input[] = {
	"SLURM_*", "SBATCH_*", "SALLOC_*", "SRUN_*", "SQUEUE_*", "SINFO_*", "SACCT_*", "SCANCEL_*", "SCONTROL_*", "TERM", NULL,
};

/* but not these: the node's own, the plugin's own, and what the image or the Pod would speak for. */
static const char *const withheld[] = {
	"SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_JWT", "SLURM_SACK_*", "SLURM_K8S_RELAY_FD", "SLURM_K8S_ARGV0",
	"SLURM_K8S_BATCH", "SLURM_K8S_STEP", "SLURM_K8S_COMPONENT", "SLURM_K8S_COMMANDS_FD", "SLURM_K8S_INSIDE_*",
	K8S_ALLOCATE_FD, K8S_ALLOCATED_FD, K8S_ALLOCATED_DIRECTORY,
	K8S_CARRIED_PREFIX "*", "SLURM_SPANK_*", NULL,
};

static size_t name_length(const char *variable)
{
	return strcspn(variable, "=");
}

static bool matches(const char *const *patterns, const char *variable)
{
	size_t length = name_length(variable);

	for (; *patterns; patterns++) {
		size_t size = strlen(*patterns);

		if ((*patterns)[size - 1] == '*' ? !strncmp(variable, *patterns, size - 1)
						 : size == length && !strncmp(variable, *patterns, size))
			return true;
	}
	return false;
}

static const char *own_value(const char *name, size_t length)
{
	for (char **variable = environ; *variable; variable++)
		if (name_length(*variable) == length && !strncmp(*variable, name, length))
			return *variable + length + 1;
	return NULL;
}

/* The plugin's options that the script or task inherited: the call has its own, and what the
 * Pod's directory and image are is said by other names. */
static bool is_inherited_option(const char *variable)
{
	static const char *const options[] = { "SLURM_K8S_IMAGE", "SLURM_K8S_WORKDIR", NULL };
	size_t length = name_length(variable);
	const char *value;

	if (!matches(options, variable))
		return false;
	value = own_value(variable, length);
	return value && !strcmp(value, variable + length + 1);
}

bool surroundings_tell(const char *variable)
{
	return !strncmp(variable, "SLURM_", 6) && variable[name_length(variable)] && !matches(withheld, variable);
}

static void put(char **variables, char *variable)
{
	size_t length = name_length(variable);

	while (*variables && (strncmp(*variables, variable, length) || (*variables)[length] != '='))
		variables++;
	*variables = variable;
}

static int put_carried(char **variables, const char *variable)
{
	char *carried;

	if (asprintf(&carried, K8S_CARRIED_PREFIX "%s", variable) < 0)
		return -1;
	put(variables, carried);
	return 0;
}

/* The binding that Slurm told the calling task, in a variable that is made of three others: it names
 * cpus or memory of the task's step, and is none for another. Slurm's srun would take it for an order. */
static const char *const bindings[] = { "SLURM_CPU_BIND", "SLURM_MEM_BIND" };
static bool bound[2];

static const char *value_of(char *const *caller, size_t count, const char *name, const char *suffix)
{
	size_t length = strlen(name), rest = strlen(suffix);

	for (size_t i = 0; i < count; i++)
		if (!strncmp(caller[i], name, length) && !strncmp(caller[i] + length, suffix, rest) &&
		    caller[i][length + rest] == '=')
			return caller[i] + length + rest + 1;
	return "";
}

static bool is_bound(char *const *caller, size_t count, const char *name)
{
	const char *value = value_of(caller, count, name, ""), *list = value_of(caller, count, name, "_LIST");
	const char *type = value_of(caller, count, name, "_TYPE"), *verbose = value_of(caller, count, name, "_VERBOSE");
	char *told;
	bool is_same;

	if (!*list || asprintf(&told, "%s,%s%s", verbose, type, list) < 0)
		return false;
	is_same = !strcmp(told, value);
	free(told);
	return is_same;
}

static bool is_binding(const char *variable)
{
	for (size_t i = 0; i < sizeof(bindings) / sizeof(bindings[0]); i++)
		if (bound[i] && !strncmp(variable, bindings[i], strlen(bindings[i])))
			return true;
	return false;
}

static int put_caller(char **variables, char *variable)
{
	if (!variable[name_length(variable)] || !name_length(variable))
		return 0;
	if (matches(input, variable) && !matches(withheld, variable) && !is_inherited_option(variable) &&
	    !is_binding(variable))
		put(variables, variable);
	if (!strncmp(variable, "SLURM_", 6) || !strncmp(variable, "_SLURM_", 7))
		return 0;
	return put_carried(variables, variable);
}

char **surroundings_of(char *const *caller, size_t count, const char *directory, const char *one)
{
	size_t mine = 0, given = 0;
	char **variables, *text;

	while (environ[mine])
		mine++;
	while (rules_variable(given))
		given++;
	variables = calloc(mine + given + 2 * count + 4, sizeof(*variables));
	if (!variables)
		return NULL;
	for (size_t i = 0; i < mine; i++)
		if (matches(own, environ[i]))
			put(variables, environ[i]);
	for (size_t i = 0; i < sizeof(bindings) / sizeof(bindings[0]); i++)
		bound[i] = is_bound(caller, count, bindings[i]);
	for (size_t i = 0; i < count; i++)
		if (put_caller(variables, caller[i]))
			return NULL;
	for (size_t i = 0; i < given; i++)
		put(variables, (char *)rules_variable(i));
	if (one)
		put(variables, (char *)one);
	if (directory && asprintf(&text, K8S_INSIDE_DIRECTORY "=%s", directory) >= 0)
		put(variables, text);
	text = getcwd(NULL, 0);
	if (text && asprintf(&text, "PWD=%s", text) >= 0)
		put(variables, text);
	return variables;
}

void surroundings_enter(const char *directory)
{
	const char *home = getenv("HOME");

	if (directory && directory[0] == '/' && !chdir(directory))
		return;
	if ((!home || chdir(home)) && chdir("/"))
		_exit(126);
}
