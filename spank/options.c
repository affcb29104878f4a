// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "components.h"
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
	[OPTION_SCOPE] = {
		.name = "k8s-scope",
		.arginfo = "job|steps",
		.usage = "[k8s] what of a batch job goes to Pods: its script (job, the default), or the steps that "
			 "srun starts in the script, which stays on the Slurm node (steps)",
		.has_arg = 1, .val = OPTION_SCOPE, .cb = option_callback,
	},
	[OPTION_RENDEZVOUS] = {
		.name = "k8s-rendezvous",
		.arginfo = "none|pytorch",
		.usage = "[k8s] give the tasks of srun the variables by which PyTorch finds the others, or not, "
			 "whatever the site's default is",
		.has_arg = 1, .val = OPTION_RENDEZVOUS, .cb = option_callback,
	},
	[OPTION_NODE_SELECTOR] = {
		.name = "k8s-node-selector",
		.arginfo = "K=V,...",
		.usage = "[k8s] only on Kubernetes nodes with these labels (KEY=VALUE), of those that the site lets "
			 "jobs choose",
		.has_arg = 1, .val = OPTION_NODE_SELECTOR, .cb = option_callback,
	},
	[OPTION_PULL_SECRET] = {
		.name = "k8s-pull-secret",
		.arginfo = "FILE",
		.usage = "[k8s] pull the image with the password in this Docker configuration of your own, an "
			 "absolute path on the Slurm node, mode 0600",
		.has_arg = 1, .val = OPTION_PULL_SECRET, .cb = option_callback,
	},
	[OPTION_MOUNT] = {
		.name = "k8s-mount",
		.arginfo = "NAME[:PATH][:ro]",
		.usage = "[k8s] mount volumes of the site, with a comma between, at their own paths or at these, "
			 "read-only or as the site has them",
		.has_arg = 1, .val = OPTION_MOUNT, .cb = option_callback,
	},
	[OPTION_PVC] = {
		.name = "k8s-pvc",
		.arginfo = "SIZE[:CLASS][:PATH]",
		.usage = "[k8s] make a volume of this size for the Pod, as 100Gi, which goes with it",
		.has_arg = 1, .val = OPTION_PVC, .cb = option_callback,
	},
	[OPTION_JOIN] = {
		.name = "k8s-join",
		.arginfo = "STEP",
		.usage = "[k8s] srun: run the tasks in the running container of the job's script, or (=STEP, "
			 "which may be left out) of a step of the job on the same Slurm node",
		.has_arg = 2, .val = OPTION_JOIN, .cb = option_callback,
	},
};

#define SCOPE_STEPS "steps"
#define JOIN_BATCH "batch"

static const struct {
	const char *key;
	const char *variable; /* the user's; NULL: it is for one srun, and not for those inside */
	const char *slurm;    /* Slurm's */
	const char *words[2]; /* the only values, where there are such */
} names[OPTION_COUNT] = {
	[OPTION_IMAGE] = { .key = "image", .variable = "SLURM_K8S_IMAGE", .slurm = SLURM_OPTION("k8s_image") },
	[OPTION_WORKDIR] = { .key = "workdir", .variable = "SLURM_K8S_WORKDIR", .slurm = SLURM_OPTION("k8s_workdir") },
	[OPTION_SCOPE] = {
		.key = "scope", .variable = "SLURM_K8S_SCOPE", .slurm = SLURM_OPTION("k8s_scope"),
		.words = { "job", SCOPE_STEPS },
	},
	[OPTION_RENDEZVOUS] = {
		.key = "rendezvous", .variable = "SLURM_K8S_RENDEZVOUS", .slurm = SLURM_OPTION("k8s_rendezvous"),
		.words = { "none", "pytorch" },
	},
	[OPTION_NODE_SELECTOR] = {
		.key = "node-selector", .variable = "SLURM_K8S_NODE_SELECTOR", .slurm = SLURM_OPTION("k8s_node_selector"),
	},
	[OPTION_PULL_SECRET] = {
		.key = "pull-secret", .variable = "SLURM_K8S_PULL_SECRET", .slurm = SLURM_OPTION("k8s_pull_secret"),
	},
	[OPTION_MOUNT] = { .key = "mount", .variable = "SLURM_K8S_MOUNT", .slurm = SLURM_OPTION("k8s_mount") },
	[OPTION_PVC] = { .key = "pvc", .variable = "SLURM_K8S_PVC", .slurm = SLURM_OPTION("k8s_pvc") },
	[OPTION_JOIN] = { .key = "join", .slurm = SLURM_OPTION("k8s_join") },
};

static struct {
	char *value;
	enum option_source source;
} given[OPTION_COUNT];

static char *faults;

/* The name under which Slurm hands the job control environment on. */
static const char *carried_name(enum option option)
{
	static char name[128];

	snprintf(name, sizeof(name), SLURM_CARRIED "%s", names[option].slurm);
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
	const char *name = table[option].name, *const *words = names[option].words;

	if (!*value)
		say_append(&faults, "--%s: empty value", name);
	else if (*value == '-')
		say_append(&faults, "--%s: \"%s\" starts with '-': a value is missing, write --%s=%s", name, value,
			   name, table[option].arginfo);
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

bool options_is_variable(const char *entry)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		size_t length = names[i].variable ? strlen(names[i].variable) : 0, carried = strlen(carried_name(i));

		if ((length && !strncmp(entry, names[i].variable, length) && (entry[length] == '=' || entry[length] == '_')) ||
		    (!strncmp(entry, carried_name(i), carried) && entry[carried] == '='))
			return true;
	}
	return false;
}

void options_take_environment(char *const *environment, bool carried)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		const char *decided = carried ? find(environment, SLURM_CARRIED, names[i].slurm) : NULL;
		const char *value = names[i].variable ? find(environment, "", names[i].variable) : NULL;

		if (value && *value)
			options_take(i, value, SOURCE_ENVIRONMENT);
		if (decided && *decided)
			options_take(i, decided, SOURCE_COMMAND);
	}
}

void options_take_outer(char *const *environment)
{
	for (int i = 0; i < OPTION_COUNT; i++) {
		const char *value = find(environment, SLURM_CARRIED, names[i].slurm);

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

		if (!names[i].variable)
			continue;
		snprintf(name, sizeof(name), "%s%s", names[i].variable, suffix);
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
			say_append(found, "--%s: does nothing without --%s", table[i].name, table[OPTION_IMAGE].name);
}

const char *options_key(enum option option)
{
	return names[option].key;
}

const char *options_variable(enum option option)
{
	return names[option].variable;
}

const char *options_faults(void)
{
	return faults;
}

int options_put(spank_t spank, enum option option, const char *value)
{
	if (!value) {
		if (names[option].variable)
			unsetenv(names[option].variable);
		unsetenv(names[option].slurm);
		unsetenv(carried_name(option));
		spank_job_control_unsetenv(spank, names[option].slurm);
		return 0;
	}
	if ((!names[option].variable || !setenv(names[option].variable, value, 1)) && !setenv(names[option].slurm, value, 1) &&
	    !setenv(carried_name(option), value, 1) &&
	    spank_job_control_setenv(spank, names[option].slurm, value, 1) == ESPANK_SUCCESS)
		return 0;
	say_error("--%s: cannot be handed on to the job", table[option].name);
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

int options_hand_on(spank_t spank)
{
	for (int i = 0; i < OPTION_COUNT; i++)
		if (given[i].value && names[i].variable &&
		    spank_setenv(spank, names[i].variable, given[i].value, 1) != ESPANK_SUCCESS)
			return -1;
	options_hide(spank);
	return 0;
}

bool options_of_job(spank_t spank, enum option option)
{
	char *value = NULL;

	return spank_option_getopt(spank, &table[option], &value) == ESPANK_SUCCESS;
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
