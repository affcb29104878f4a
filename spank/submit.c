// SPDX-License-Identifier: Apache-2.0
#include "submit.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ask.h"
#include "component_options.h"
#include "components.h"
#include "inside.h"
#include "legacy.h"
#include "options.h"
#include "request.h"
#include "say.h"

/* The names of sbatch's own variable and of nobody else's: a program's name proves nothing, as
 * sites wrap and rename it. */
bool submit_is_sbatch(void)
{
	return slurm_symbol("sbopt");
}

static const struct {
	enum option option;
	enum legacy_key key;
} comments[] = { { OPTION_IMAGE, LEGACY_IMAGE }, { OPTION_WORKDIR, LEGACY_WORKDIR } };

static void take_comments(const struct config *config, struct job_file *file, struct legacy *legacy)
{
	memset(legacy, 0, sizeof(*legacy));
	if (components_here() || !config_legacy_comments(config->site))
		return;
	job_file_open(file);
	if (!file->head.text)
		return;
	legacy_parse(file->head.text, file->head.length, file->head.whole, legacy);
	for (size_t i = 0; i < sizeof(comments) / sizeof(comments[0]); i++)
		if (legacy->value[comments[i].key])
			options_take(comments[i].option, legacy->value[comments[i].key], SOURCE_COMMENT);
}

/* The first component's request, as long as the job file is ahead. */
static struct fields waiting;
static bool is_waiting;

/* What can be said without the core. */
static void find_faults(const struct config *config, char **faults)
{
	if (config->fault)
		say_append(faults, "%s", config->fault);
	if (options_faults())
		say_append(faults, "%s", options_faults());
	options_find_idle(faults);
	if (options_want_join()) {
		say_append(faults, "--k8s-join: only srun joins a running job: srun --jobid=JOB --overlap --k8s-join ...");
		options_drop(OPTION_JOIN);
	}
	if (!geteuid() || !getuid())
		say_append(faults, "--k8s-image: root's jobs do not go to a Pod: submit as an ordinary user");
	if (tool_option("container"))
		say_append(faults, "--k8s-image and --container exclude each other");
}

/* Of several components the first has the script. */
static bool is_accepted(const struct config *config, const struct job_file *file, const struct legacy *legacy)
{
	struct fields fields = { 0 };

	request_tool(&fields, config, "sbatch", file->directory);
	if (file->is_ahead) {
		waiting = fields;
		is_waiting = true;
		return true;
	}
	request_file(&fields, file, legacy);
	return ask_core(config, &fields);
}

static bool is_waiting_accepted(const struct config *config, struct job_file *file, const struct legacy *legacy)
{
	bool is_good;

	if (!is_waiting)
		return true;
	job_file_open(file);
	if (file->is_ahead)
		return true;
	is_waiting = false;
	request_file(&waiting, file, legacy);
	say_place("component 0: ");
	is_good = ask_core(config, &waiting);
	component_say_place();
	return is_good;
}

static int check(const struct config *config, struct job_file *file, const struct legacy *legacy)
{
	char *faults = NULL;
	bool is_sound;

	job_file_open(file);
	/* Where the request itself is sound, the core's faults are shown with ours. */
	is_sound = options_value(OPTION_IMAGE) && !options_faults() && !config->fault && geteuid() && getuid();
	find_faults(config, &faults);
	if (faults) {
		say_errors(faults);
		say_free(&faults);
		if (is_sound)
			is_accepted(config, file, legacy);
		return -1;
	}
	if (!is_accepted(config, file, legacy))
		return -1;
	if (legacy->value[LEGACY_SCRIPT] && setenv("SLURM_K8S_SCRIPT", legacy->value[LEGACY_SCRIPT], 1))
		return -1;
	return 0;
}

/* Of a component after the first. */
static int check_later(void)
{
	char *faults = NULL;

	if (options_faults())
		say_append(&faults, "%s", options_faults());
	component_find_typed(&faults);
	if (!faults)
		return 0;
	say_errors(faults);
	say_free(&faults);
	return -1;
}

int submit_check(spank_t spank, const struct config *config)
{
	struct job_file file = { 0 };
	struct legacy legacy;
	bool is_none;
	int result = 0;

	component_begin();
	inside_enter();
	take_comments(config, &file, &legacy);
	is_none = options_want_none() && !options_faults();
	if (is_none && !components_here())
		inside_leave();
	if (components_here())
		result = check_later();
	else if (options_ask() && !is_none)
		result = check(config, &file, &legacy);
	if (!is_waiting_accepted(config, &file, &legacy))
		result = -1;
	if (!result)
		result = components_here() ? component_keep_first(spank) : component_export(spank);
	legacy_free(&legacy);
	job_file_close(&file);
	component_end();
	return result;
}

void submit_forget(void)
{
	if (is_waiting)
		fields_free(&waiting);
	is_waiting = false;
	memset(&waiting, 0, sizeof(waiting));
}
