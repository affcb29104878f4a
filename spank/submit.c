// SPDX-License-Identifier: Apache-2.0
#include "submit.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ask.h"
#include "legacy.h"
#include "inside.h"
#include "options.h"
#include "request.h"
#include "say.h"

extern char **environ;

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
	if (!config_legacy_comments(config->site))
		return;
	job_file_open(file);
	if (!file->head.text)
		return;
	legacy_parse(file->head.text, file->head.length, file->head.whole, legacy);
	for (size_t i = 0; i < sizeof(comments) / sizeof(comments[0]); i++)
		if (legacy->value[comments[i].key])
			options_take(comments[i].option, legacy->value[comments[i].key], SOURCE_COMMENT);
}

/* Whether a part of this submission has been checked already. */
static bool was_here;

/* A part of a heterogeneous job is one more call, or a ':' where a file should be. */
static bool is_heterogeneous(const struct job_file *file)
{
	return was_here || (file->word && !strcmp(file->word, ":"));
}

/* What can be said without the core. */
static void find_faults(const struct config *config, const struct job_file *file, char **faults)
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
	if (is_heterogeneous(file))
		say_append(faults, "--k8s-image: heterogeneous jobs do not go to a Pod");
	was_here = true;
}

static bool is_accepted(const struct config *config, const struct job_file *file, const struct legacy *legacy)
{
	struct fields fields = { 0 };

	request_submission(&fields, config, file, legacy);
	return ask_core(config, &fields);
}

static int check(spank_t spank, const struct config *config, struct job_file *file, const struct legacy *legacy)
{
	char *faults = NULL;
	bool is_sound;

	job_file_open(file);
	/* Where the request itself is sound, the core's faults are shown with ours. */
	is_sound = options_value(OPTION_IMAGE) && !options_faults() && !config->fault && !is_heterogeneous(file) &&
		   geteuid() && getuid();
	find_faults(config, file, &faults);
	if (faults) {
		say_errors(faults);
		say_free(&faults);
		if (is_sound)
			is_accepted(config, file, legacy);
		return -1;
	}
	if (!is_accepted(config, file, legacy) || options_export(spank))
		return -1;
	if (legacy->value[LEGACY_SCRIPT] && setenv("SLURM_K8S_SCRIPT", legacy->value[LEGACY_SCRIPT], 1))
		return -1;
	return 0;
}

int submit_check(spank_t spank, const struct config *config)
{
	struct job_file file = { 0 };
	struct legacy legacy;
	int result = 0;

	options_take_environment(environ, false);
	inside_enter();
	take_comments(config, &file, &legacy);
	if (options_want_none() && !options_faults()) {
		inside_leave();
		result = options_export(spank);
	}
	else if (options_ask())
		result = check(spank, config, &file, &legacy);
	legacy_free(&legacy);
	job_file_close(&file);
	return result;
}

void submit_forget(void)
{
	was_here = false;
}
