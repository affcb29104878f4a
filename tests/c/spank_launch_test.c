// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
/* srun and salloc. */
#include "spank_launcher.h"

#include <signal.h>

static void test_without_option(void **state)
{
	(void)state;
	begin(S_CTX_LOCAL);
	fake_set(host.tool, "multi-prog", "set");
	fake_set(host.tool, "mpi", "pmix");
	setenv("SLURM_K8S_WORKDIR", "/w", 1);
	/* Of an srun around this one, and of an option that was taken away. */
	setenv("SLURM_K8S_STEP", "own", 1);
	setenv("SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_image", "outer:1", 1);
	assert_int_equal(launch(), 0);
	assert_null(getenv("SLURM_K8S_STEP"));
	assert_null(getenv("SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_image"));
	assert_int_equal(host.dlopens, 0);
	assert_string_equal(host.log, "");
}

static void test_srun(void **state)
{
	(void)state;
	begin(S_CTX_LOCAL);
	typed_image();
	fake_set(host.tool, "nodes", "2");
	fake_set(host.tool, "chdir", "/tmp");
	fake_set(host.tool, "mpi", "none");
	assert_int_equal(launch(), 0);
	assert_int_equal(core->calls[0], 1);
	asked("tool=srun");
	asked("uid=1234");
	asked("directory=/tmp");
	asked("option.image=a:1");
	asked("sbatch.nodes=2");
	assert_null(strstr(core->fields, "script="));
	assert_null(strstr(core->fields, "stdin="));
	assert_string_equal(getenv("SLURM_K8S_IMAGE"), "a:1");
	assert_string_equal(getenv("SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_image"), "a:1");
	assert_string_equal(fake_control("_SLURM_SPANK_OPTION_k8s_k8s_image"), "a:1");
	assert_string_equal(getenv("SLURM_K8S_STEP"), "own");
	assert_string_equal(host.log, "");
}

static void test_salloc(void **state)
{
	(void)state;
	begin(S_CTX_ALLOCATOR);
	setenv("SLURM_K8S_IMAGE", "b:1", 1);
	/* Another allocation around it is none of its business. */
	setenv("SLURM_JOB_ID", "7", 1);
	assert_int_equal(launch(), 0);
	asked("tool=salloc");
	asked("option.image=b:1");
	assert_string_equal(getenv("_SLURM_SPANK_OPTION_k8s_k8s_image"), "b:1");
	assert_null(getenv("SLURM_K8S_STEP"));
}

static void test_within_allocation(void **state)
{
	(void)state;
	begin(S_CTX_LOCAL);
	inherit();
	fake_set(host.tool, "overlap", "set");
	assert_int_equal(launch(), 0);
	assert_int_equal(host.dlopens, 0);
	assert_string_equal(getenv("SLURM_K8S_STEP"), "overlap");
	assert_string_equal(getenv("SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_image"), "outer:1");
}

static void test_by_jobid(void **state)
{
	(void)state;
	begin(S_CTX_LOCAL);
	typed_image();
	fake_set(host.tool, "jobid", "7");
	assert_int_equal(launch(), 0);
	assert_int_equal(host.dlopens, 0);
}

static void test_own_image_within_allocation(void **state)
{
	(void)state;
	begin(S_CTX_LOCAL);
	inherit();
	typed_image();
	assert_int_equal(launch(), 0);
	assert_string_equal(getenv("SLURM_K8S_IMAGE"), "a:1");
	assert_string_equal(getenv("SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_image"), "a:1");
}

/* Natively, within an allocation that has an image. */
/* Called in a Pod: its image is the default, below every other word. */
static void test_inside(void **state)
{
	(void)state;
	begin(S_CTX_LOCAL);
	setenv("SLURM_K8S_INSIDE_IMAGE", "pod:1", 1);
	setenv("SLURM_K8S_INSIDE_DIRECTORY", "/work", 1);
	assert_int_equal(launch(), 0);
	asked("option.image=pod:1");
	assert_string_equal(getenv("SLURM_K8S_IMAGE"), "pod:1");
	assert_string_equal(getenv("SLURM_K8S_INSIDE_DIRECTORY"), "/work");
}

static void test_inside_with_image(void **state)
{
	(void)state;
	begin(S_CTX_LOCAL);
	setenv("SLURM_K8S_INSIDE_IMAGE", "pod:1", 1);
	setenv("SLURM_K8S_INSIDE_DIRECTORY", "/work", 1);
	typed_image();
	fake_set(host.tool, "chdir", "/tmp");
	assert_int_equal(launch(), 0);
	asked("option.image=a:1");
	assert_null(getenv("SLURM_K8S_INSIDE_DIRECTORY"));
}

/* What stays on the Slurm node is not inside any more. */
static void test_inside_with_none(void **state)
{
	(void)state;
	begin(S_CTX_LOCAL);
	setenv("SLURM_K8S_INSIDE_IMAGE", "pod:1", 1);
	setenv("SLURM_K8S_INSIDE_DIRECTORY", "/work", 1);
	fake_option("k8s-image", "none", 0);
	assert_int_equal(launch(), 0);
	assert_int_equal(host.dlopens, 0);
	assert_null(getenv("SLURM_K8S_INSIDE_IMAGE"));
	assert_null(getenv("SLURM_K8S_INSIDE_DIRECTORY"));
}

static void test_image_none(void **state)
{
	(void)state;
	begin(S_CTX_LOCAL);
	inherit();
	fake_set(host.tool, "multi-prog", "set");
	words[1] = "--k8s-image=none";
	fake_option("k8s-image", strchr(words[1], '=') + 1, 0);
	assert_int_equal(launch(), 0);
	words[1] = typed;
	assert_string_equal(host.log, "");
	assert_int_equal(host.dlopens, 0);
	assert_null(getenv("SLURM_K8S_STEP"));
	/* What slurmstepd and an srun in this step find. */
	assert_string_equal(getenv("SLURM_K8S_IMAGE"), "none");
	assert_string_equal(getenv("SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_image"), "none");
}

static void test_words(void **state)
{
	(void)state;
	begin(S_CTX_ALLOCATOR);
	typed_image();
	fake_option("k8s-scope", "steps", 0);
	assert_int_equal(launch(), 0);
	fake_end(state);
	fake_reset(state);
	begin(S_CTX_ALLOCATOR);
	typed_image();
	fake_option("k8s-scope", "step", 0);
	fake_option("k8s-rendezvous", "mpi", 0);
	assert_int_equal(launch(), -1);
	assert_string_equal(host.log, "E k8s: --k8s-scope: must be job or steps: \"step\"\n"
				      "E k8s: --k8s-rendezvous: must be none or pytorch: \"mpi\"\n");
	assert_int_equal(core->calls[0], 0);
}

/* The srun by which salloc starts its shell on the first node. */
static void test_interactive_step(void **state)
{
	(void)state;
	begin(S_CTX_LOCAL);
	inherit();
	fake_set(host.tool, "interactive", "set");
	fake_set(host.tool, "mpi", "pmix");
	assert_int_equal(launch(), 0);
	assert_null(getenv("SLURM_K8S_STEP"));
	assert_string_equal(getenv("SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_image"), "outer:1");
	assert_string_equal(getenv("_SLURM_SPANK_OPTION_k8s_k8s_image"), "outer:1");
	assert_string_equal(host.log, "");
}

/* What the core's threads have blocked, the tool has not. */
static void test_signals_as_before(void **state)
{
	sigset_t before, after;

	(void)state;
	begin(S_CTX_ALLOCATOR);
	typed_image();
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	assert_int_equal(launch(), 0);
	assert_int_equal(host.dlopens, 1);
	assert_true(host.was_deaf);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (int i = 1; i < NSIG; i++)
		assert_int_equal(sigismember(&before, i), sigismember(&after, i));
	assert_false(sigismember(&after, SIGINT));
}

#define T(name) cmocka_unit_test_setup_teardown(name, fake_reset, fake_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_without_option),
		T(test_srun),
		T(test_salloc),
		T(test_within_allocation),
		T(test_by_jobid),
		T(test_own_image_within_allocation),
		T(test_image_none),
		T(test_inside),
		T(test_inside_with_image),
		T(test_inside_with_none),
		T(test_words),
		T(test_interactive_step),
		T(test_signals_as_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
