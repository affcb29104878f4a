// SPDX-License-Identifier: Apache-2.0
#include "step.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "inside.h"
#include "launch.h"
#include "legacy.h"
#include "options.h"
#include "say.h"
#include "script.h"

/* Slurm's own limit is far lower; a number that cannot be is not multiplied. */
#define TASKS_MAX 65536

static struct step step;

struct step *step_here(void)
{
	return &step;
}

void step_init(void)
{
	step.pid = getpid();
}

/* The job file is read again here, by root: `sbatch < file` through a pipe and submissions by
 * REST never had their comments seen. */
static void take_comments(spank_t spank)
{
	char **argv = NULL;
	struct script script;
	struct legacy legacy;
	int argc = 0;

	if (spank_get_item(spank, S_JOB_ARGV, &argc, &argv) != ESPANK_SUCCESS || argc < 1 || !argv || !argv[0])
		return;
	if (script_read(argv[0], true, &script))
		return;
	legacy_parse(script.text, script.length, script.whole, &legacy);
	/* sbatch has made options of the comments that it saw. */
	if (legacy.value[LEGACY_IMAGE]) {
		options_take(OPTION_IMAGE, legacy.value[LEGACY_IMAGE], SOURCE_COMMENT);
		step.is_legacy = !strcmp(legacy.value[LEGACY_IMAGE], options_value(OPTION_IMAGE));
	}
	if (legacy.value[LEGACY_WORKDIR])
		options_take(OPTION_WORKDIR, legacy.value[LEGACY_WORKDIR], SOURCE_COMMENT);
	step.legacy_script = legacy.value[LEGACY_SCRIPT] ? strdup(legacy.value[LEGACY_SCRIPT]) : NULL;
	step.has_command = legacy.command;
	legacy_free(&legacy);
	script_free(&script);
}

static void find_faults(spank_t spank, const struct config *config)
{
	char container[2];
	uid_t uid = 0;

	/* Of those, --multi-prog cannot be seen here, where its tasks' argv is out of reach. */
	if (!step.is_batch && !step.is_checked)
		say_append(&step.fault, "the srun of this step has not checked %s: Slurm's plugin is missing where it ran",
			   options_subject());
	if (step.is_batch && options_want_join())
		say_append(&step.fault, "--k8s-join: only srun joins a running job");
	if (config->fault)
		say_append(&step.fault, "%s", config->fault);
	if (options_faults())
		say_append(&step.fault, "%s", options_faults());
	if (spank_get_item(spank, S_JOB_UID, &uid) != ESPANK_SUCCESS || !uid)
		say_append(&step.fault, "root's jobs do not go to a Pod");
	/* With --container Slurm runs an OCI runtime, and nothing that could be replaced. */
	if (spank_getenv(spank, "SLURM_CONTAINER", container, sizeof(container)) != ESPANK_ENV_NOEXIST)
		say_append(&step.fault, "%s and --container exclude each other", options_subject());
}

static void make_pairs(spank_t spank)
{
	if (spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &step.tasks) != ESPANK_SUCCESS || !step.tasks ||
	    step.tasks > TASKS_MAX) {
		say_append(&step.fault, "Slurm does not say how many tasks there are");
		step.tasks = 0;
		return;
	}
	step.pairs = malloc(step.tasks * sizeof(*step.pairs));
	if (!step.pairs) {
		say_append(&step.fault, "out of memory");
		step.tasks = 0;
		return;
	}
	memset(step.pairs, -1, step.tasks * sizeof(*step.pairs));
	/* Without them there are no commands in the Pod, and all else goes on. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, step.commands))
		step.commands[0] = step.commands[1] = -1;
	for (uint32_t i = 0; i < step.tasks && !step.fault; i++)
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, step.pairs[i]))
			say_append(&step.fault, "cannot make a socket: %s", strerror(errno));
}

/* Which step of which job this is, and which of its nodes. */
static void identify(spank_t spank)
{
	if (spank_get_item(spank, S_JOB_ID, &step.job) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_STEPID, &step.id) != ESPANK_SUCCESS)
		step.id = 0;
	step.is_batch = step.id == SLURM_BATCH_SCRIPT;
	if (spank_get_item(spank, S_JOB_NODEID, &step.node) != ESPANK_SUCCESS)
		step.node = 0;
	if (step.is_batch) {
		snprintf(step.name, sizeof(step.name), "%u", step.job);
		return;
	}
	snprintf(step.name, sizeof(step.name), "%u.%u", step.job, step.id);
	snprintf(step.place, sizeof(step.place), "%u.%u", step.id, step.node);
}

/* Of several components of a step, which may have one job, one number and each a first node. Returns
 * whether its options are known: srun has then said so. */
static bool identify_component(spank_t spank)
{
	struct component *component = &step.component;

	if (step.is_batch)
		return false;
	if (component_take(spank, component))
		say_append(&step.fault, "what srun says of this component of the step cannot be read");
	if (!component->is_one)
		return false;
	step.is_checked = component->is_checked;
	step.is_overlap = component->is_overlap;
	snprintf(step.name, sizeof(step.name), "%u.%u+%d", step.job, step.id, component->number);
	snprintf(step.place, sizeof(step.place), "%u.%u.%d", step.id, step.node, component->number);
	return true;
}

/* What srun says of the step; it is not the task's to hand on to an srun inside. */
static void hear_srun(spank_t spank)
{
	char word[16] = "", type[64] = "";

	if (!step.component.is_one) {
		step.is_checked = spank_getenv(spank, LAUNCH_VARIABLE, word, sizeof(word)) != ESPANK_ENV_NOEXIST;
		step.is_overlap = !strcmp(word, LAUNCH_OVERLAP);
	}
	spank_unsetenv(spank, LAUNCH_VARIABLE);
	/* srun's own, where it was told: what Slurm has chosen is only in the tasks' environment. */
	step.is_bound = spank_getenv(spank, "SLURM_CPU_BIND_TYPE", type, sizeof(type)) == ESPANK_SUCCESS && *type;
}

void step_prepare(spank_t spank, const struct config *config)
{
	char **environment = NULL;

	identify(spank);
	/* They hold an allocation or a shell on it; neither ever runs in a Pod. */
	if (step.id == SLURM_EXTERN_CONT || step.id == SLURM_INTERACTIVE_STEP)
		return;
	if (!identify_component(spank)) {
		spank_get_item(spank, S_JOB_ENV, &environment);
		options_take_environment(environment, true);
	}
	if (step.is_batch && config_legacy_comments(config->site))
		take_comments(spank);
	/* One around it has an image for steps of their own, and what goes with that. */
	if (options_want_join()) {
		options_drop(OPTION_IMAGE);
		options_drop(OPTION_PULL_SECRET);
		options_drop(OPTION_MOUNT);
		options_drop(OPTION_PVC);
	/* A step whose component cannot be read stays off the host: it may have asked for a Pod. */
	} else if (!options_want_pod() && !step.fault) {
		if (step.component.is_one) {
			options_hide(spank);
			inside_hide(spank);
		}
		return;
	}
	if (step.is_batch && options_leave_script()) {
		if (!options_hand_on(spank))
			return;
		say_append(&step.fault, "--k8s-scope: Slurm refuses to set the environment of the script");
	}
	step.is_ours = true;
	step.commands[0] = step.commands[1] = -1;
	hear_srun(spank);
	find_faults(spank, config);
	options_hide(spank);
	make_pairs(spank);
}

void step_forget(void)
{
	for (uint32_t i = 0; i < step.tasks; i++)
		for (int side = 0; side < 2; side++)
			if (step.pairs[i][side] >= 0)
				close(step.pairs[i][side]);
	for (int side = 0; side < 2 && step.is_ours; side++)
		if (step.commands[side] >= 0)
			close(step.commands[side]);
	free(step.pairs);
	free(step.legacy_script);
	say_free(&step.fault);
	memset(&step, 0, sizeof(step));
}
