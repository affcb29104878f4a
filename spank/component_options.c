// SPDX-License-Identifier: Apache-2.0
#include "component_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "components.h"
#include "options.h"
#include "request.h"
#include "say.h"
#include "submit.h"

#define VARIABLE "SLURM_K8S_COMPONENT"

/* Longer than an image, a directory and the rest can be in their code. */
#define VALUE_MAX 32768

/* The first component's options, which the environment has under the plain names. */
static char *first[OPTION_COUNT];
static bool is_asked; /* by any component so far */

void component_say_place(void)
{
	static char place[32];

	snprintf(place, sizeof(place), "component %d: ", components_here());
	say_place(components_are_several() ? place : "");
}

void component_begin(void)
{
	char *const *environment = components_environment();

	unsetenv(VARIABLE); /* a step's around this tool */
	component_say_place();
	options_open();
	/* sbatch is to see only what was typed for a later one. */
	if (components_here() && !submit_is_sbatch())
		options_take_outer(environment);
	if (spank_context() == S_CTX_LOCAL && options_take_group(environment, components_group()))
		return;
	options_take_environment(environment, false);
}

void component_end(void)
{
	say_place("");
	options_close();
	components_next();
}

static int keep_first(void)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		const char *value = options_value(i);

		free(first[i]);
		first[i] = value ? strdup(value) : NULL;
		if (value && !first[i]) {
			say_error("out of memory");
			return -1;
		}
	}
	return 0;
}

/* Slurm has put this component's options where the first one's were. */
static int restore_first(spank_t spank)
{
	for (int i = 0; i < OPTION_COUNT; i++)
		if (options_put(spank, i, first[i]))
			return -1;
	return 0;
}

int component_keep_first(spank_t spank)
{
	return is_asked ? restore_first(spank) : 0;
}

void component_find_typed(char **faults)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		bool is_typed = options_source(i) == SOURCE_COMMAND || options_source(i) == SOURCE_SCRIPT;

		if (!is_typed || !options_variable(i) || (first[i] && !strcmp(first[i], options_value(i))))
			continue;
		say_append(faults, "--k8s-%s: sbatch can give a job only its first component's: give it to the script's "
				   "srun --het-group=%d, or set %s" OPTIONS_OF_COMPONENT "%d for sbatch",
			   options_key(i), components_here(), options_variable(i), components_here());
	}
}

static int export_others(void)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		const char *value = options_value(i);
		char name[64];

		if (!options_variable(i))
			continue;
		/* Else the first one's image would count for it. */
		if (!value && i == OPTION_IMAGE)
			value = OPTIONS_NO_IMAGE;
		snprintf(name, sizeof(name), "%s" OPTIONS_OF_COMPONENT "%d", options_variable(i), components_here());
		if (value ? setenv(name, value, 1) : unsetenv(name)) {
			say_error("%s: cannot be set for the job", name);
			return -1;
		}
	}
	return 0;
}

int component_export(spank_t spank)
{
	is_asked = is_asked || options_ask() || options_want_none();
	if (!components_here() && keep_first())
		return -1;
	if (!is_asked)
		return 0;
	if (!components_here())
		return options_export(spank);
	return restore_first(spank) ? -1 : export_others();
}

/* srun 22.05 leaves the option as it was. */
const char *component_typed_export(void)
{
	const char *list = tool_option("export");
	size_t length = strlen(VARIABLE "=");

	while (list && !strncmp(list, VARIABLE "=", length) && strchr(list, ','))
		list = strchr(list, ',') + 1;
	return list ? list : "ALL";
}

int component_hand_over(bool is_checked, bool is_overlap)
{
	const struct component component = { .is_one = true, .number = components_here(), .group = components_group(),
					     .is_checked = is_checked, .is_overlap = is_overlap };
	char *code = component_encode(&component), *list = NULL;
	int result = -1;

	/* In front: srun's list ends at NONE. */
	if (code)
		list = say_text(VARIABLE "=%s,%s", code, component_typed_export());
	if (list)
		result = tool_set("export", list);
	if (result)
		say_error("this srun cannot give the components of a step options of their own");
	free(list);
	free(code);
	return result;
}

int component_take(spank_t spank, struct component *component)
{
	char *text = malloc(VALUE_MAX);
	spank_err_t error;
	int result = -1;

	memset(component, 0, sizeof(*component));
	if (!text)
		return -1;
	error = spank_getenv(spank, VARIABLE, text, VALUE_MAX);
	if (error == ESPANK_ENV_NOEXIST)
		result = 0;
	else if (error == ESPANK_SUCCESS)
		result = component_decode(text, component);
	spank_unsetenv(spank, VARIABLE);
	free(text);
	return result;
}

void component_forget(void)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		free(first[i]);
		first[i] = NULL;
	}
	is_asked = false;
}
