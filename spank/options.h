/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the options, and who spoke last about each. */
#ifndef K8S_OPTIONS_H
#define K8S_OPTIONS_H

#include <stdbool.h>

#include "slurm_api.h"

/* The name of the plugin, as Slurm knows it: part of the names under which options travel. */
#define PLUGIN_NAME "k8s"

/* The image's value for no Pod. */
#define OPTIONS_NO_IMAGE "none"

enum option { OPTION_IMAGE, OPTION_WORKDIR, OPTION_SCOPE, OPTION_RENDEZVOUS, OPTION_NODE_SELECTOR, OPTION_PULL_SECRET, OPTION_MOUNT, OPTION_PVC, OPTION_JOIN, OPTION_CLUSTER, OPTION_COUNT };

/* Who named a value. A later one of the same rank replaces an earlier one. */
enum option_source {
	SOURCE_NONE,
	SOURCE_INSIDE,	    /* the tool was called in a Pod: that Pod's image */
	SOURCE_COMMENT,	    /* a legacy comment in the job file */
	SOURCE_SCRIPT,	    /* #SBATCH, or Slurm's own environment of an outer job */
	SOURCE_ENVIRONMENT, /* SLURM_K8S_... */
	SOURCE_COMMAND,	    /* the command line; in slurmstepd, what Slurm carried there */
};

/* Registers the options; only within slurm_spank_init. Returns 0, or -1. */
int options_register(spank_t spank);

/* Names a value. One that the option cannot have is remembered as a fault, as is an empty one, and
 * one that starts with '-': getopt takes the next option for the value where that is missing. Whose
 * container to join need not be said: then it is the batch script's. */
void options_take(enum option option, const char *value, enum option_source source);

/* Takes the equivalents of the options (SLURM_K8S_IMAGE, ...) from `environment`, a
 * NULL-ended vector of "NAME=value"; empty ones count as unset. `carried` also takes those
 * under which options_export hands on what the tool decided: they travel with --export=NONE
 * too, and overrule what Slurm carried there, which may be an outer job's. */
void options_take_environment(char *const *environment, bool carried);

/* Behind a user's variable: of the component with this number alone, as Slurm has it of its own. */
#define OPTIONS_OF_COMPONENT "_HET_GROUP_"

/* Whether the entry "NAME=value" of an environment names a value, for whatever component. */
bool options_is_variable(const char *entry);

/* Takes what an outer tool has decided, as Slurm does of a first component. */
void options_take_outer(char *const *environment);

/* Takes the users' variables of component `group` of the allocation, in place of those that count
 * for all. Returns false where there are none: then nothing has changed. Only in srun. */
bool options_take_group(char *const *environment, int group);

/* What follows is another component's: options_open, and the first option that Slurm names, forget
 * all values if they were closed. */
void options_close(void);
void options_open(void);

/* The value of `option`, or NULL. */
const char *options_value(enum option option);

/* Who named it. */
enum option_source options_source(enum option option);

/* Whether an image was named, and not "none". */
bool options_want_pod(void);

/* Whether "none" was named for the image: no Pod, whatever an outer tool has named. */
bool options_want_none(void);

/* Whether another step's container was asked for: --k8s-join. */
bool options_want_join(void);

/* What speaks for the tasks' place: "--k8s-join", or "--k8s-image". */
const char *options_subject(void);

/* Takes a value back, as if nobody had named it. */
void options_drop(enum option option);

/* --k8s-scope=steps: a batch script stays on the Slurm node. */
bool options_leave_script(void);

/* Whether anything was asked of the plugin. Another option than the image is a fault without it
 * where it was typed, and idle where it was set for all jobs of a shell. */
bool options_ask(void);

/* Adds a line to `found` for each option that was typed and does nothing, since there is no image. */
void options_find_idle(char **found);

/* The user's variable of `option`. */
const char *options_variable(enum option option);

/* "image", "workdir": the option's name in a request, and its row in comments. */
const char *options_key(enum option option);

/* Everything that is wrong with the values, a line each, or NULL. */
const char *options_faults(void);

/* Puts the values into the tool's environment, under all names by which the job's steps and
 * epilog may find them. Slurm did so itself before init_post_opt, for what was known then. */
int options_export(spank_t spank);

/* The same of one value; NULL takes the names away. Returns 0, or -1. */
int options_put(spank_t spank, enum option option, const char *value);

/* Takes those names out of the tool's environment again: those of an outer job. */
void options_withdraw(void);

/* Removes from the job's environment the names under which an sbatch or srun inside the job
 * would inherit the options of this one. Only in slurmstepd. */
void options_hide(spank_t spank);

/* Puts the values into the job's environment, for an srun in it, under the user's names alone: these
 * can be unset. Only in slurmstepd. Returns 0, or -1. */
int options_hand_on(spank_t spank);

/* spank_option_getopt for `option`, where that works: prolog and epilog. */
bool options_of_job(spank_t spank, enum option option);

/* Forgets all values, for tests. */
void options_forget(void);

#endif
