// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
/* Heterogeneous jobs and steps, where the user types: each component has its own options. */
#include "spank_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../spank/arguments.h"
#include "../../spank/components.h"

#define CARRIED "SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_image"

static struct fake_core *core;

static void begin(spank_context_t context, bool is_sbatch, char **words)
{
	int count = 0;

	while (words[count])
		count++;
	host.context = context;
	host.is_sbatch = is_sbatch;
	host.process_uid = 1234;
	core = fake_core_ok();
	fake_install("ok");
	arguments_set(count, words);
	assert_int_equal(slurm_spank_init(SP, fake_argc, fake_argv), 0);
}

/* One component as Slurm reads it: its environment, its words up to `end` as getopt counts, the hook.
 * `image` is one of the words, or NULL. */
static int component(const char *image, int end)
{
	const char *carried = getenv(CARRIED);

	if (carried)
		fake_option("k8s-image", carried, 0);
	if (image)
		fake_option("k8s-image", strchr(image, '=') + 1, 0);
	optind = end;
	return slurm_spank_init_post_opt(SP, fake_argc, fake_argv);
}

static const char *export(void)
{
	for (int i = 0; i < FAKE_MAX; i++)
		if (host.tool[i].name && !strcmp(host.tool[i].name, "export"))
			return host.tool[i].value;
	return NULL;
}

/* slurm_reset_all_options, between two components. */
static void next_options(const char *group)
{
	fake_set(host.tool, "export", NULL);
	fake_set(host.tool, "het-group", group);
}

static void asked(const char *field)
{
	char line[512];

	snprintf(line, sizeof(line), "%s\n", field);
	if (!strstr(core->fields, line))
		fail_msg("no %s in %s", field, core->fields);
}

static void test_srun(void **state)
{
	static char one[] = "--k8s-image=a:1", two[] = "--k8s-image=b:1";
	char *words[] = { "srun", one, "cat", ":", two, "-n2", "date", NULL };

	(void)state;
	begin(S_CTX_LOCAL, false, words);
	fake_set(host.tool, "export", "NONE,X=1");
	assert_int_equal(component(one, 2), 0);
	asked("option.image=a:1");
	assert_string_equal(export(), "SLURM_K8S_COMPONENT=component=0;group=0;step=own;image=a:1,NONE,X=1");
	/* srun leaves --export as the first component has it. */
	fake_set(host.tool, "het-group", "1");
	fake_set(host.tool, "overlap", "set");
	fake_option("k8s-workdir", "/a, b", 0);
	assert_int_equal(component(two, 3), 0);
	asked("option.image=b:1");
	assert_string_equal(export(),
			    "SLURM_K8S_COMPONENT=component=1;group=1;step=overlap;image=b:1;workdir=/a%2C%20b,NONE,X=1");
	/* Not by what all of them share. */
	assert_null(getenv("SLURM_K8S_IMAGE"));
	assert_null(getenv(CARRIED));
	assert_null(getenv("SLURM_K8S_STEP"));
	assert_int_equal(core->calls[0], 2);
	assert_string_equal(host.log, "");
}

static void test_srun_one_image(void **state)
{
	static char two[] = "--k8s-image=b:1";
	char *words[] = { "srun", "cat", ":", two, "date", ":", "date", NULL };

	(void)state;
	begin(S_CTX_LOCAL, false, words);
	assert_int_equal(component(NULL, 1), 0);
	assert_string_equal(export(), "SLURM_K8S_COMPONENT=component=0;group=0;step=none,ALL");
	assert_int_equal(host.dlopens, 0);
	next_options("1");
	assert_int_equal(component(two, 2), 0);
	assert_string_equal(export(), "SLURM_K8S_COMPONENT=component=1;group=1;step=own;image=b:1,ALL");
	next_options("2");
	assert_int_equal(component(NULL, 1), 0);
	assert_string_equal(export(), "SLURM_K8S_COMPONENT=component=2;group=2;step=none,ALL");
	assert_string_equal(host.log, "I k8s: component 1: not every component has --k8s-image: those without it run on the "
				      "Slurm nodes (--k8s-image=none says that this is meant)\n");
}

static void test_srun_without_us(void **state)
{
	char *words[] = { "srun", "cat", ":", "date", NULL };

	(void)state;
	begin(S_CTX_LOCAL, false, words);
	assert_int_equal(component(NULL, 1), 0);
	next_options("1");
	assert_int_equal(component(NULL, 1), 0);
	assert_null(export());
	assert_int_equal(host.dlopens, 0);
	assert_string_equal(host.log, "");
}

/* srun in a shell of salloc: what salloc's components had, and what was typed before it. */
static void test_srun_within(void **state)
{
	static char typed[] = "--k8s-image=none";
	char *words[] = { "srun", "--het-group=0-2", "cat", ":", "--het-group=3", typed, "cat", NULL };

	(void)state;
	setenv("SLURM_JOB_ID", "7", 1);
	setenv("SLURM_K8S_IMAGE", "outer:1", 1);
	setenv("SLURM_K8S_WORKDIR", "/outer", 1);
	setenv(CARRIED, "outer:1", 1);
	setenv("SLURM_K8S_IMAGE_HET_GROUP_1", "inner:1", 1);
	setenv("SLURM_K8S_IMAGE_HET_GROUP_2", "none", 1);
	setenv("SLURM_K8S_COMPONENT", "component=0;group=0;step=own;image=x", 1);
	begin(S_CTX_LOCAL, false, words);
	next_options("0");
	assert_int_equal(component(NULL, 2), 0);
	assert_null(getenv("SLURM_K8S_COMPONENT"));
	assert_string_equal(export(), "SLURM_K8S_COMPONENT=component=0;group=0;step=own;image=outer:1;workdir=/outer,ALL");
	next_options("1");
	assert_int_equal(component(NULL, 2), 0);
	assert_string_equal(export(), "SLURM_K8S_COMPONENT=component=1;group=1;step=own;image=inner:1,ALL");
	next_options("2");
	assert_int_equal(component(NULL, 2), 0);
	assert_string_equal(export(), "SLURM_K8S_COMPONENT=component=2;group=2;step=none;image=none,ALL");
	next_options("3");
	assert_int_equal(component(typed, 3), 0);
	assert_string_equal(export(), "SLURM_K8S_COMPONENT=component=3;group=3;step=none;image=none;workdir=/outer,ALL");
	assert_int_equal(host.dlopens, 0);
	assert_string_equal(host.log, "");
}

/* The image in the second group alone: the first one is one of several from the start. */
static void test_srun_groups(void **state)
{
	char *words[] = { "srun", "--het-g", "[0,1]", "cat", NULL };

	(void)state;
	setenv("SLURM_JOB_ID", "7", 1);
	setenv("SLURM_K8S_IMAGE_HET_GROUP_1", "inner:1", 1);
	begin(S_CTX_LOCAL, false, words);
	next_options("0");
	assert_int_equal(component(NULL, 3), 0);
	assert_string_equal(export(), "SLURM_K8S_COMPONENT=component=0;group=0;step=none,ALL");
	next_options("1");
	assert_int_equal(component(NULL, 3), 0);
	assert_string_equal(export(), "SLURM_K8S_COMPONENT=component=1;group=1;step=own;image=inner:1,ALL");
}

static void test_srun_one_group(void **state)
{
	char *words[] = { "srun", "--het-group=1", "cat", NULL };

	(void)state;
	setenv("SLURM_JOB_ID", "7", 1);
	setenv("SLURM_K8S_IMAGE", "outer:1", 1);
	setenv("SLURM_K8S_IMAGE_HET_GROUP_1", "inner:1", 1);
	begin(S_CTX_LOCAL, false, words);
	next_options("1");
	assert_int_equal(component(NULL, 2), 0);
	assert_null(export());
	assert_string_equal(getenv(CARRIED), "inner:1");
	assert_string_equal(getenv("SLURM_K8S_STEP"), "own");
}

static void test_srun_refused(void **state)
{
	static char one[] = "--k8s-image=a:1", bad[] = "--k8s-image=-n1", torch[] = "--k8s-rendezvous=pytorch";
	char *words[] = { "srun", one, torch, "cat", ":", bad, "date", NULL };

	(void)state;
	begin(S_CTX_LOCAL, false, words);
	fake_option("k8s-rendezvous", strchr(torch, '=') + 1, 0);
	fake_set(host.tool, "multi-prog", "set");
	assert_int_equal(component(one, 3), -1);
	assert_logged("E k8s: component 0: --k8s-image and --multi-prog exclude each other");
	assert_logged("E k8s: component 0: --k8s-rendezvous=pytorch: a step with several components");
	fake_set(host.tool, "multi-prog", NULL);
	next_options("1");
	assert_int_equal(component(bad, 2), -1);
	assert_logged("E k8s: component 1: --k8s-image: \"-n1\" starts with '-'");
}

static void test_srun_that_cannot(void **state)
{
	static char one[] = "--k8s-image=a:1";
	char *words[] = { "srun", one, "cat", ":", "date", NULL };

	(void)state;
	host.option_set_rc = -1;
	begin(S_CTX_LOCAL, false, words);
	assert_int_equal(component(one, 2), -1);
	assert_logged("cannot give the components of a step options of their own");
}

/* What the job has in the end: the first component's names for all, and one's own each. */
static void has_both(const char *first, const char *second)
{
	if (first) {
		assert_string_equal(getenv("SLURM_K8S_IMAGE"), first);
		assert_string_equal(getenv("_SLURM_SPANK_OPTION_k8s_k8s_image"), first);
		assert_string_equal(getenv(CARRIED), first);
		assert_string_equal(fake_control("_SLURM_SPANK_OPTION_k8s_k8s_image"), first);
	} else {
		assert_null(getenv("SLURM_K8S_IMAGE"));
		assert_null(getenv("_SLURM_SPANK_OPTION_k8s_k8s_image"));
		assert_null(getenv(CARRIED));
		assert_null(fake_control("_SLURM_SPANK_OPTION_k8s_k8s_image"));
	}
	assert_string_equal(getenv("SLURM_K8S_IMAGE_HET_GROUP_1"), second);
}

#define ONLY_FIRST "sbatch can give a job only its first component's: give it to the script's srun --het-group="

static void test_sbatch(void **state)
{
	static char one[] = "--k8s-image=a:1";
	char *words[] = { "sbatch", one, ":", "-n2", NULL, NULL };

	(void)state;
	setenv("SLURM_K8S_IMAGE_HET_GROUP_1", "b:1", 1);
	begin(S_CTX_ALLOCATOR, true, words);
	words[4] = fake_file("job.sh", "#!/bin/sh\necho\n");
	arguments_set(5, words);
	/* The job file is asked about where it is known, with the first component's options. */
	assert_int_equal(component(one, 2), 0);
	assert_int_equal(core->calls[0], 0);
	assert_int_equal(component(NULL, 2), 0);
	assert_int_equal(core->calls[0], 1);
	asked("option.image=a:1");
	has_both("a:1", "b:1");
	assert_string_equal(host.log, "");
}

/* "#SBATCH hetjob": one command line, read again for each component. */
static void test_sbatch_hetjob(void **state)
{
	char *words[] = { "sbatch", NULL, NULL };

	(void)state;
	begin(S_CTX_ALLOCATOR, true, words);
	words[1] = fake_file("job.sh", "#!/bin/sh\n#SBATCH --k8s-image=a:1\n#SBATCH hetjob\n#SBATCH -n2\necho\n");
	arguments_set(2, words);
	assert_int_equal(component("=a:1", 1), 0);
	assert_int_equal(core->calls[0], 1);
	assert_non_null(strstr(core->fields, "script="));
	assert_int_equal(component(NULL, 1), 0);
	/* The same again is no harm. */
	assert_int_equal(component("=a:1", 1), 0);
	assert_int_equal(core->calls[0], 1);
	assert_string_equal(getenv("SLURM_K8S_IMAGE"), "a:1");
	assert_null(getenv("SLURM_K8S_IMAGE_HET_GROUP_1"));
	assert_string_equal(host.log, "");
	assert_int_equal(component("=c:1", 1), -1);
	assert_logged("E k8s: component 3: --k8s-image: " ONLY_FIRST "3, or set SLURM_K8S_IMAGE_HET_GROUP_3 for sbatch");
}

static void test_sbatch_second_alone(void **state)
{
	static char two[] = "--k8s-image=b:1";
	char *words[] = { "sbatch", "-n1", ":", two, NULL, NULL };

	(void)state;
	begin(S_CTX_ALLOCATOR, true, words);
	words[4] = fake_file("job.sh", "#!/bin/sh\necho\n");
	arguments_set(5, words);
	assert_int_equal(component(NULL, 2), 0);
	assert_int_equal(component(two, 2), -1);
	assert_logged("E k8s: component 1: --k8s-image: " ONLY_FIRST "1");
}

/* The user's and an outer job's words for all components are no component's own. */
static void test_sbatch_of_all(void **state)
{
	static char one[] = "--k8s-image=a:1";
	char *words[] = { "sbatch", one, ":", "-n2", NULL, NULL };

	(void)state;
	setenv("SLURM_K8S_IMAGE", "all:1", 1);
	setenv(CARRIED, "outer:1", 1);
	begin(S_CTX_ALLOCATOR, true, words);
	words[4] = fake_file("job.sh", "#!/bin/sh\necho\n");
	arguments_set(5, words);
	assert_int_equal(component(one, 2), 0);
	assert_int_equal(component(NULL, 2), 0);
	assert_string_equal(getenv("SLURM_K8S_IMAGE"), "a:1");
	assert_string_equal(getenv(CARRIED), "a:1");
	assert_string_equal(host.log, "");
}

static void test_sbatch_refused(void **state)
{
	static char one[] = "--k8s-image=a:1", two[] = "--k8s-image=b:1";
	char *words[] = { "sbatch", one, ":", two, "/no/such/file", NULL };

	(void)state;
	begin(S_CTX_ALLOCATOR, true, words);
	assert_int_equal(component(one, 2), 0);
	core->validate_rc = 1;
	core->text = "k8s: no such image\nand no script";
	assert_int_equal(component(two, 2), -1);
	assert_logged("E k8s: component 0: no such image\nE k8s: component 0: and no script");
	assert_logged("E k8s: component 1: --k8s-image: " ONLY_FIRST "1");
}

/* Called in a Pod: its image for all, and one environment. */
static void test_inside(void **state)
{
	char *words[] = { "srun", "-n1", "cat", ":", "date", NULL };

	(void)state;
	setenv("SLURM_K8S_INSIDE_IMAGE", "pod:1", 1);
	setenv("SLURM_K8S_INSIDE_DIRECTORY", "/work", 1);
	begin(S_CTX_LOCAL, false, words);
	assert_int_equal(component(NULL, 2), 0);
	assert_string_equal(export(), "SLURM_K8S_COMPONENT=component=0;group=0;step=own;image=pod:1,ALL");
	assert_string_equal(getenv("SLURM_K8S_INSIDE_DIRECTORY"), "/work");
	next_options("1");
	fake_set(host.tool, "export", "NONE");
	assert_int_equal(component(NULL, 1), -1);
	assert_logged("E k8s: component 1: --export=NONE: cannot be given to one of several components by an srun");
}

static void test_salloc(void **state)
{
	static char two[] = "--k8s-image=b:1";
	char *words[] = { "salloc", "-n1", ":", two, "sh", "-c", ":", NULL };

	(void)state;
	setenv("SLURM_K8S_IMAGE", "all:1", 1);
	begin(S_CTX_ALLOCATOR, false, words);
	assert_int_equal(component(NULL, 2), 0);
	asked("option.image=all:1");
	assert_int_equal(component(two, 2), 0);
	asked("option.image=b:1");
	has_both("all:1", "b:1");
	/* The ':' behind the command is the command's. */
	assert_int_equal(core->calls[0], 2);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fake_reset, fake_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_srun),	       T(test_srun_one_image), T(test_srun_without_us), T(test_srun_within),
		T(test_srun_one_group), T(test_srun_groups), T(test_srun_refused),   T(test_srun_that_cannot), T(test_sbatch),
		T(test_sbatch_hetjob), T(test_sbatch_second_alone), T(test_sbatch_refused), T(test_salloc),
		T(test_sbatch_of_all), T(test_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
