// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "components.h"
#include "option_table.h"
#include "say.h"

/* The prefix that sbatch gives to everything of the job control environment. */
#define SLURM_CARRIED "SLURM_SPANK_"

#define JOIN_BATCH "batch"

static struct {
	char *value;
	enum option_source source;
} given[OPTION_COUNT];

static char *faults;

/* The name under which Slurm hands the job control environment on. */
static const char *carried_name(enum option option)
{
	static char name[128];

	snprintf(name, sizeof(name), SLURM_CARRIED "%s", option_names[option].slurm);
	return name;
}

static bool is_closed;

/* Of a second component and later, what Slurm reads from the environment is what an earlier one
 * has put there. */
static bool is_earlier_ones(enum option option, const char *argument)
{
	return components_here() && argument && argument == getenv(carried_name(option));
}

static int option_callback(int value, const char *argument, int remote)
{
	bool typed = remote || arguments_hold(argument);

	options_open();
	if (!remote && is_earlier_ones((enum option)value, argument))
		return 0;
	/* What is wrong is told later, all at once. An error from here would end sbatch at the
	 * first fault; in slurmstepd it would make the option count as not given, and the
	 * job run on the host. */
	options_take((enum option)value, argument, typed ? SOURCE_COMMAND : SOURCE_SCRIPT);
	return 0;
}

int options_register(spank_t spank)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		spank_err_t error;

		option_table[i].cb = option_callback;
		error = spank_option_register(spank, &option_table[i]);
		if (error != ESPANK_SUCCESS) {
			say_error("cannot register --%s: %s", option_table[i].name, spank_strerror(error));
			return -1;
		}
	}
	return 0;
}

static void check(enum option option, const char *value)
{
	const char *name = option_table[option].name, *const *words = option_names[option].words;

	if (!*value)
		say_append(&faults, "--%s: empty value", name);
	else if (*value == '-')
		say_append(&faults, "--%s: \"%s\" starts with '-': a value is missing, write --%s=%s", name, value,
			   name, option_table[option].arginfo);
	else if (words[0] && strcmp(value, words[0]) && strcmp(value, words[1]))
		say_append(&faults, "--%s: must be %s or %s: \"%s\"", name, words[0], words[1], value);
	else if (option == OPTION_JOIN && strcmp(value, JOIN_BATCH) && strspn(value, "0123456789") != strlen(value))
		say_append(&faults, "--%s: must be a step's number, or nothing for the job's script: \"%s\"", name, value);
}

/* getopt has none where it is left out, and Slurm makes a word of that on the way. */
static const char *filled(enum option option, const char *value)
{
	if (option == OPTION_JOIN && (!value || !*value || !strcmp(value, "(null)")))
		return JOIN_BATCH;
	return value ? value : "";
}

void options_take(enum option option, const char *value, enum option_source source)
{
	char *copy;

	value = filled(option, value);
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
		say_append(&faults, "--%s: %s", option_table[option].name, strerror(errno));
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

bool options_is_variable(const char *entry)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		size_t length = option_names[i].variable ? strlen(option_names[i].variable) : 0, carried = strlen(carried_name(i));

		if ((length && !strncmp(entry, option_names[i].variable, length) && (entry[length] == '=' || entry[length] == '_')) ||
		    (!strncmp(entry, carried_name(i), carried) && entry[carried] == '='))
			return true;
	}
	return false;
}

void options_take_environment(char *const *environment, bool carried)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		const char *decided = carried ? find(environment, SLURM_CARRIED, option_names[i].slurm) : NULL;
		const char *value = option_names[i].variable ? find(environment, "", option_names[i].variable) : NULL;

		if (value && *value)
			options_take(i, value, SOURCE_ENVIRONMENT);
		if (decided && *decided)
			options_take(i, decided, SOURCE_COMMAND);
	}
}

void options_take_outer(char *const *environment)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		const char *value = find(environment, SLURM_CARRIED, option_names[i].slurm);

		if (value)
			options_take(i, value, SOURCE_SCRIPT);
	}
}

bool options_take_group(char *const *environment, int group)
{
	char suffix[32];

	snprintf(suffix, sizeof(suffix), OPTIONS_OF_COMPONENT "%d", group);
	for (int i = 0; i < OPTION_COUNT; i++) {
		char name[64];
		const char *value;

		if (!option_names[i].variable)
			continue;
		snprintf(name, sizeof(name), "%s%s", option_names[i].variable, suffix);
		value = find(environment, "", name);
		if (i == OPTION_IMAGE && !value)
			return false;
		/* Slurm has told of the first component's, which are not this one's. */
		if (given[i].source == SOURCE_SCRIPT)
			options_drop(i);
		if (value && *value)
			options_take(i, value, SOURCE_ENVIRONMENT);
	}
	return true;
}

const char *options_value(enum option option)
{
	return given[option].value;
}

static bool is_given(enum option option, const char *word)
{
	return given[option].value && !strcmp(given[option].value, word);
}

bool options_want_pod(void)
{
	return given[OPTION_IMAGE].value && !options_want_none();
}

bool options_want_none(void)
{
	return is_given(OPTION_IMAGE, OPTIONS_NO_IMAGE);
}

bool options_want_join(void)
{
	return given[OPTION_JOIN].value;
}

const char *options_subject(void)
{
	return options_want_join() ? "--k8s-join" : "--k8s-image";
}

void options_drop(enum option option)
{
	free(given[option].value);
	given[option].value = NULL;
	given[option].source = SOURCE_NONE;
}

bool options_leave_script(void)
{
	return is_given(OPTION_SCOPE, SCOPE_STEPS);
}

enum option_source options_source(enum option option)
{
	return given[option].source;
}

static bool is_typed(enum option option)
{
	return given[option].source == SOURCE_COMMAND || given[option].source == SOURCE_SCRIPT;
}

bool options_ask(void)
{
	if (faults || given[OPTION_IMAGE].value)
		return true;
	for (int i = 0; i < OPTION_COUNT; i++)
		if (is_typed(i))
			return true;
	return false;
}

void options_find_idle(char **found)
{
	for (int i = 0; i < OPTION_COUNT && !given[OPTION_IMAGE].value && !options_want_join(); i++)
		if (is_typed(i))
			say_append(found, "--%s: does nothing without --%s", option_table[i].name, option_table[OPTION_IMAGE].name);
}

const char *options_key(enum option option)
{
	return option_names[option].key;
}

const char *options_variable(enum option option)
{
	return option_names[option].variable;
}

const char *options_faults(void)
{
	return faults;
}

int options_put(spank_t spank, enum option option, const char *value)
{
	if (!value) {
		if (option_names[option].variable)
			unsetenv(option_names[option].variable);
		unsetenv(option_names[option].slurm);
		unsetenv(carried_name(option));
		spank_job_control_unsetenv(spank, option_names[option].slurm);
		return 0;
	}
	if ((!option_names[option].variable || !setenv(option_names[option].variable, value, 1)) && !setenv(option_names[option].slurm, value, 1) &&
	    !setenv(carried_name(option), value, 1) &&
	    spank_job_control_setenv(spank, option_names[option].slurm, value, 1) == ESPANK_SUCCESS)
		return 0;
	say_error("--%s: cannot be handed on to the job", option_table[option].name);
	return -1;
}

int options_export(spank_t spank)
{
	for (int i = 0; i < OPTION_COUNT; i++)
		if (given[i].value && options_put(spank, i, given[i].value))
			return -1;
	return 0;
}

void options_withdraw(void)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		unsetenv(option_names[i].slurm);
		unsetenv(carried_name(i));
	}
}

void options_hide(spank_t spank)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		spank_unsetenv(spank, carried_name(i));
		spank_unsetenv(spank, option_names[i].slurm);
	}
}

int options_hand_on(spank_t spank)
{
	for (int i = 0; i < OPTION_COUNT; i++)
		if (given[i].value && option_names[i].variable &&
		    spank_setenv(spank, option_names[i].variable, given[i].value, 1) != ESPANK_SUCCESS)
			return -1;
	options_hide(spank);
	return 0;
}

bool options_of_job(spank_t spank, enum option option)
{
	char *value = NULL;

	return spank_option_getopt(spank, &option_table[option], &value) == ESPANK_SUCCESS;
}

void options_close(void)
{
	is_closed = true;
}

void options_open(void)
{
	if (is_closed)
		options_forget();
}

void options_forget(void)
{
	for (int i = 0; i < OPTION_COUNT; i++)
		options_drop(i);
	say_free(&faults);
	is_closed = false;
}
