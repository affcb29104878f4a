// SPDX-License-Identifier: Apache-2.0
#include "request.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "components.h"
#include "options.h"

/* Of libslurm's slurm_opt.h, which Debian does not ship; the struct stays opaque. */
typedef char *option_get(void *opt, const char *name);
typedef int option_set(void *opt, const char *name, const char *value, bool early);
typedef bool option_is_set(void *opt, const char *name);

/* The tools' long options that say what the job will need, where it writes, and how it ends. */
static const char *const tool_options[] = {
	"account", "array", "begin", "chdir", "clusters", "comment", "constraint", "container", "core-spec",
	"cores-per-socket", "cpus-per-gpu", "cpus-per-task", "deadline", "dependency", "distribution", "error",
	"exclude", "exclusive", "export", "export-file", "extra-node-info", "get-user-env", "gpus",
	"gpus-per-node", "gpus-per-socket", "gpus-per-task", "gres", "hint", "hold", "input", "job-name",
	"licenses", "mem", "mem-per-cpu", "mem-per-gpu", "mincpus", "no-requeue", "nodelist", "nodes",
	"ntasks", "ntasks-per-core", "ntasks-per-gpu", "ntasks-per-node", "ntasks-per-socket", "open-mode",
	"output", "overcommit", "oversubscribe", "partition", "propagate", "qos", "requeue", "reservation",
	"signal", "spread-job", "switches", "thread-spec", "threads-per-core", "time", "time-min", "tmp",
	"wckey", "x11",
};

const char *tool_value(const char *name)
{
	void *opt = slurm_symbol("opt");
	option_get *get = (option_get *)slurm_symbol("slurm_option_get");

	return opt && get ? get(opt, name) : NULL;
}

int tool_set(const char *name, const char *value)
{
	void *opt = slurm_symbol("opt");
	option_set *set = (option_set *)slurm_symbol("slurm_option_set");

	return opt && set && !set(opt, name, value, false) ? 0 : -1;
}

const char *tool_option(const char *name)
{
	void *opt = slurm_symbol("opt");
	option_get *get = (option_get *)slurm_symbol("slurm_option_get");
	option_is_set *is_set = (option_is_set *)slurm_symbol("slurm_option_isset");

	return opt && get && is_set && is_set(opt, name) ? get(opt, name) : NULL;
}

char *request_directory(bool is_chosen)
{
	const char *chosen = is_chosen ? tool_option("chdir") : NULL;
	char here[PATH_MAX];

	if (chosen)
		return strdup(chosen);
	return getcwd(here, sizeof(here)) ? strdup(here) : NULL;
}

/* sbatch looks the file up when it has read its command line alone: --chdir counts where it was
 * typed, and not where it stands in the file itself. */
static bool is_directory_typed(void)
{
	for (int i = 1; i < optind && components_word(i); i++)
		if (!strncmp(components_word(i), "-D", 2) || !strncmp(components_word(i), "--chd", 5))
			return true;
	return false;
}

static void find_file(struct job_file *file)
{
	char *directory = request_directory(is_directory_typed());

	file->path = script_find(file->word, directory ? directory : ".", getenv("PATH"));
	free(directory);
	if (file->path)
		script_read(file->path, false, &file->head);
}

void job_file_open(struct job_file *file)
{
	const char *wrap;

	if (file->is_open)
		return;
	file->is_open = true;
	file->directory = request_directory(true);
	wrap = tool_option("wrap");
	if (wrap) {
		file->wrap = strdup(wrap);
		script_wrap(wrap, &file->head);
		return;
	}
	/* sbatch has just read this part of its command line with getopt. */
	file->word = components_word(optind);
	file->is_ahead = file->word && !strcmp(file->word, ":");
	if (file->is_ahead)
		return;
	if (file->word)
		find_file(file);
	else
		script_peek(STDIN_FILENO, &file->head);
}

void job_file_close(struct job_file *file)
{
	free(file->path);
	free(file->wrap);
	free(file->directory);
	script_free(&file->head);
	memset(file, 0, sizeof(*file));
}

void request_common(struct fields *fields, const struct config *config)
{
	fields_add(fields, "config", config->site);
	fields_add(fields, "libexec", config->libexec);
	for (int i = 0; i < OPTION_COUNT; i++) {
		char key[64];

		snprintf(key, sizeof(key), "option.%s", options_key(i));
		fields_add(fields, key, options_value(i));
	}
}

void request_tool(struct fields *fields, const struct config *config, const char *tool, const char *directory)
{
	request_common(fields, config);
	fields_add(fields, "tool", tool);
	fields_format(fields, "uid", "%u", (unsigned)getuid());
	fields_add(fields, "directory", directory);
	for (size_t i = 0; i < sizeof(tool_options) / sizeof(tool_options[0]); i++) {
		char key[64];

		snprintf(key, sizeof(key), "sbatch.%s", tool_options[i]);
		fields_add(fields, key, tool_option(tool_options[i]));
	}
}

void request_file(struct fields *fields, const struct job_file *file, const struct legacy *legacy)
{
	fields_add(fields, "script", file->path);
	fields_add(fields, "wrap", file->wrap);
	if (!file->path && !file->wrap) {
		fields_add(fields, "stdin", "1");
		fields_add(fields, "head", file->head.text);
	}
	if (options_source(OPTION_IMAGE) == SOURCE_COMMENT)
		fields_add(fields, "legacy", "1");
	if (!legacy->command)
		fields_add(fields, "legacy_script", legacy->value[LEGACY_SCRIPT]);
}

struct k8s_request request_of(const struct fields *fields)
{
	return (struct k8s_request){ .size = sizeof(struct k8s_request), .fields = fields_vector(fields) };
}
