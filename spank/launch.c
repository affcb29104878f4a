// SPDX-License-Identifier: Apache-2.0
#include "launch.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ask.h"
#include "component_options.h"
#include "components.h"
#include "inside.h"
#include "options.h"
#include "request.h"
#include "say.h"

/* Of several components of a step: with a Pod, and without one that could have been forgotten. */
static bool has_pod, has_bare;

static const struct {
	const char *option, *why;
} excluded[] = {
	{ "container", "" },
	{ "multi-prog", ": start each program by an srun of its own, in the background "
			"(srun --exact -n1 --k8s-image=IMAGE PROGRAM & ... wait)" },
	{ "bcast", ": the file would be copied to the Slurm node and not into the Pod: put it into the image, or where "
		   "the Pod sees it too" },
	{ "x11", ": X11 is forwarded to the Slurm node, and the Pod is not there" },
};

/* An srun leaves its type to those inside it, in SLURM_MPI_TYPE: the shell of salloc has the
 * site's, and nobody asked for that. */
static bool is_asked_for(const char *type)
{
	const slurm_conf_t *conf = slurm_symbol("slurm_conf");

	for (int i = 1; i < optind && components_word(i); i++)
		if (!strncmp(components_word(i), "--mp", 4))
			return true;
	return !conf || !conf->mpi_default || strcmp(type, conf->mpi_default);
}

/* Slurm's PMI server is a process of the Slurm node. */
static void find_mpi(char **faults)
{
	const char *type = tool_option("mpi");

	if (type && strcmp(type, "none") && is_asked_for(type))
		say_append(faults,
			   "%s: --mpi=%s does not reach into a Pod: give --mpi=none; the tasks know each "
			   "other's addresses, so that torchrun and all that works over sockets does",
			   options_subject(), type);
}

/* Within an allocation nothing but this step is at stake, and it is to start fast: the run tells
 * what the core would. */
static bool is_within_job(void)
{
	return tool_option("jobid") || getenv("SLURM_JOB_ID");
}

/* What a step cannot have that joins a container. An image that was not typed is the shell's, or the
 * job's, and not meant. */
static void find_join(char **faults)
{
	static const struct {
		enum option option;
		const char *why;
	} foreign[] = {
		{ OPTION_IMAGE, "the container has its image" },
		{ OPTION_SCOPE, "that is for a job" },
		{ OPTION_PULL_SECRET, "the container has its image" },
		{ OPTION_MOUNT, "the container has its volumes" },
		{ OPTION_PVC, "the container has its volumes" },
	};

	if (!options_want_join())
		return;
	if (spank_context() != S_CTX_LOCAL || !is_within_job())
		say_append(faults, "--k8s-join: only srun joins a running job, which is to be named: "
				   "srun --jobid=JOB --overlap --k8s-join ...");
	else if (components_are_several())
		say_append(faults, "--k8s-join: a step with several components joins nothing: start an srun for each");
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
		if (options_source(foreign[i].option) == SOURCE_COMMAND)
			say_append(faults, "--k8s-join and --k8s-%s exclude each other: %s",
				   options_key(foreign[i].option), foreign[i].why);
		options_drop(foreign[i].option);
	}
}

/* What can be said without the core: first what makes asking it pointless. Returns whether
 * there is none of that. */
static bool find_faults(const struct config *config, char **faults)
{
	bool is_sound;

	if (config->fault)
		say_append(faults, "%s", config->fault);
	if (options_faults())
		say_append(faults, "%s", options_faults());
	options_find_idle(faults);
	find_join(faults);
	if (!geteuid() || !getuid())
		say_append(faults, "%s: root's jobs do not go to a Pod: submit as an ordinary user", options_subject());
	is_sound = !*faults;
	for (size_t i = 0; i < sizeof(excluded) / sizeof(excluded[0]); i++)
		if (tool_option(excluded[i].option))
			say_append(faults, "%s and --%s exclude each other%s", options_subject(), excluded[i].option,
				   excluded[i].why);
	find_mpi(faults);
	if (spank_context() == S_CTX_LOCAL && components_are_several() && options_value(OPTION_RENDEZVOUS) &&
	    options_source(OPTION_RENDEZVOUS) == SOURCE_COMMAND && strcmp(options_value(OPTION_RENDEZVOUS), "none"))
		say_append(faults, "--k8s-rendezvous=%s: a step with several components has no rendezvous over all of "
				   "them: start an srun for each", options_value(OPTION_RENDEZVOUS));
	inside_find_faults(faults);
	return is_sound;
}

static bool is_accepted(const struct config *config, const char *tool)
{
	char *directory = request_directory(true);
	struct fields fields = { 0 };

	request_tool(&fields, config, tool, directory);
	free(directory);
	return ask_core(config, &fields);
}

static int check(const struct config *config, const char *tool, bool is_srun)
{
	bool is_asked = !options_want_join() && (!is_srun || !is_within_job());
	char *faults = NULL;
	bool is_sound = find_faults(config, &faults);

	if (faults) {
		say_errors(faults);
		say_free(&faults);
		if (is_sound && is_asked)
			is_accepted(config, tool);
		return -1;
	}
	return is_asked && !is_accepted(config, tool) ? -1 : 0;
}

/* salloc's own srun has no option of ours; a user's would be ignored, and run on the host. */
static int check_interactive(void)
{
	if ((options_source(OPTION_IMAGE) != SOURCE_COMMAND || !options_want_pod()) && !options_want_join())
		return 0;
	say_error("%s and --interactive exclude each other: an interactive step stays on the Slurm node", options_subject());
	return -1;
}

/* An option belongs to the component that it was typed for, as all of Slurm's do. */
static void tell_bare(bool is_pod)
{
	bool was_told = has_pod && has_bare;

	has_pod = has_pod || is_pod;
	has_bare = has_bare || (!is_pod && !options_want_none());
	if (has_pod && has_bare && !was_told)
		say_info("not every component has --k8s-image: those without it run on the Slurm nodes (--k8s-image=none "
			 "says that this is meant)");
}

/* One of several components of a step. */
static int launch_component(const struct config *config)
{
	bool is_pod = options_ask() && !(options_want_none() && !options_faults());

	if (!is_pod && !components_are_touched())
		return 0;
	if (is_pod && check(config, "srun", true))
		return -1;
	tell_bare(is_pod);
	return component_hand_over(is_pod, tool_option("overlap"));
}

static int launch_alone(spank_t spank, const struct config *config)
{
	/* slurmstepd is to hear it too, over what an outer tool has put there. */
	if (options_want_none() && !options_want_join() && !options_faults()) {
		inside_leave();
		return options_export(spank);
	}
	if (options_ask()) {
		if (check(config, "srun", true))
			return -1;
		/* Slurm has handed the image of the job on. */
		if (options_want_join())
			options_withdraw();
		if (options_export(spank))
			return -1;
		return setenv(LAUNCH_VARIABLE, tool_option("overlap") ? LAUNCH_OVERLAP : LAUNCH_OWN, 1);
	}
	/* Else slurmstepd would take the option from where an outer tool has put it. */
	options_withdraw();
	return 0;
}

static int allocate(spank_t spank, const struct config *config, const char *tool)
{
	bool is_none = options_want_none() && !options_faults();

	if (is_none && !components_here())
		inside_leave();
	if (options_ask() && !is_none && check(config, tool, false))
		return -1;
	if (!components_here() && !options_ask())
		options_withdraw();
	return component_export(spank);
}

int launch_check(spank_t spank, const struct config *config, const char *tool)
{
	bool is_srun = spank_context() == S_CTX_LOCAL;
	int result;

	/* The word of an srun around this one. */
	unsetenv(LAUNCH_VARIABLE);
	/* The shell that salloc starts on the first Slurm node: it hands on all that it has. */
	if (is_srun && tool_option("interactive"))
		return check_interactive();
	component_begin();
	inside_enter();
	if (!is_srun)
		result = allocate(spank, config, tool);
	else
		result = components_are_several() ? launch_component(config) : launch_alone(spank, config);
	component_end();
	return result;
}

void launch_forget(void)
{
	has_pod = has_bare = false;
}
