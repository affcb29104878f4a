// SPDX-License-Identifier: Apache-2.0
#include "submit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bounded.h"
#include "core.h"
#include "host.h"
#include "legacy.h"
#include "limits.h"
#include "options.h"
#include "request.h"
#include "say.h"

#define FAULTS (64 * 1024)

/* The core has 3 s; what still runs after this is not waited for. */
#define VALIDATE_BOUND 6

extern char **environ;

/* The names of sbatch's own variable and of nobody else's: a program's name proves nothing, as
 * sites wrap and rename it. */
bool submit_is_sbatch(void)
{
	return slurm_symbol("sbopt");
}

int submit_refuse(void)
{
	options_take_environment(environ, false);
	if (!options_value(OPTION_IMAGE))
		return 0;
	say_error("--k8s-image works with sbatch in this release; here it was given by %s",
		  options_source(OPTION_IMAGE) == SOURCE_ENVIRONMENT ? "SLURM_K8S_IMAGE in the environment"
								     : "an option");
	return -1;
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
	if (!options_value(OPTION_IMAGE))
		say_append(faults, "--k8s-workdir: does nothing without --k8s-image");
	if (!geteuid() || !getuid())
		say_append(faults, "--k8s-image: root's jobs do not go to a Pod: submit as an ordinary user");
	if (sbatch_option("container"))
		say_append(faults, "--k8s-image and --container exclude each other");
	if (is_heterogeneous(file))
		say_append(faults, "--k8s-image: heterogeneous jobs do not go to a Pod");
	was_here = true;
}

struct validation {
	const struct core *core;
	struct fields fields;
	char text[FAULTS];
};

static int validate(void *argument)
{
	struct validation *validation = argument;
	struct k8s_request request = request_of(&validation->fields);

	return validation->core->validate(host_table(), &request, validation->text, sizeof(validation->text));
}

/* Takes over `validation`, which lives on where the core has not answered: it still uses it. */
static bool is_valid(struct validation *validation)
{
	int result = 1, error = bounded_call(validate, validation, VALIDATE_BOUND, &result);

	if (error == ETIMEDOUT) {
		say_info("checks skipped: the core has not answered in %d s", VALIDATE_BOUND);
		return true;
	}
	if (error)
		say_info("checks skipped: %s", strerror(error));
	else if (!result)
		say_infos(validation->text);
	else
		say_errors(*validation->text ? validation->text : "refused, and the core does not say why");
	fields_free(&validation->fields);
	free(validation);
	return error || !result;
}

static bool ask_core(const struct config *config, const struct job_file *file, const struct legacy *legacy)
{
	const char *forbidden = limits_forbid_go();
	struct validation *validation;

	if (forbidden) {
		say_info("checks skipped: %s", forbidden);
		return true;
	}
	validation = calloc(1, sizeof(*validation));
	if (!validation) {
		say_error("out of memory");
		return false;
	}
	validation->core = core_load(config->libexec, validation->text, sizeof(validation->text));
	if (!validation->core) {
		say_errors(validation->text);
		free(validation);
		return false;
	}
	request_submission(&validation->fields, config, file, legacy);
	return is_valid(validation);
}

static int check(spank_t spank, const struct config *config, struct job_file *file, const struct legacy *legacy)
{
	char *faults = NULL;
	bool is_sound, is_fine;

	job_file_open(file);
	/* Where the request itself is sound, the core's faults are shown with ours. */
	is_sound = options_value(OPTION_IMAGE) && !options_faults() && !config->fault && !is_heterogeneous(file) &&
		   geteuid() && getuid();
	find_faults(config, file, &faults);
	if (faults) {
		say_errors(faults);
		say_free(&faults);
		if (is_sound)
			ask_core(config, file, legacy);
		return -1;
	}
	is_fine = ask_core(config, file, legacy);
	if (!is_fine || options_export(spank))
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
	take_comments(config, &file, &legacy);
	/* A working directory alone is a fault where it was typed, and idle where it was set for
	 * all jobs of a shell. */
	if (options_value(OPTION_IMAGE) || options_faults() || options_source(OPTION_WORKDIR) == SOURCE_COMMAND ||
	    options_source(OPTION_WORKDIR) == SOURCE_SCRIPT)
		result = check(spank, config, &file, &legacy);
	legacy_free(&legacy);
	job_file_close(&file);
	return result;
}

void submit_forget(void)
{
	was_here = false;
}
