// SPDX-License-Identifier: Apache-2.0
/* --k8s-join in srun, in the other tools, and in slurmstepd. */
#include "spank_host.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../spank/arguments.h"
#include "../../spank/options.h"
#include "../../spank/step.h"

static struct fake_core *core;
static char typed[] = "--k8s-image=a:1";
static char *words[] = { "srun", typed, "hostname", NULL };

static void begin(spank_context_t context)
{
	host.context = context;
	host.is_sbatch = false;
	host.process_uid = 1234;
	core = fake_core_ok();
	fake_install("ok");
	arguments_set(3, words);
	optind = 2;
	assert_int_equal(slurm_spank_init(SP, fake_argc, fake_argv), 0);
}

static int checked(void)
{
	return slurm_spank_init_post_opt(SP, fake_argc, fake_argv);
}

static void test_srun(void **state)
{
	(void)state;
	begin(S_CTX_LOCAL);
	fake_set(host.tool, "jobid", "7");
	fake_set(host.tool, "overlap", "set");
	fake_option("k8s-join", NULL, 0);
	fake_option("k8s-workdir", "/w", 0);
	assert_int_equal(checked(), 0);
	assert_string_equal(host.log, "");
	assert_int_equal(host.dlopens, 0);
	assert_string_equal(getenv("SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_join"), "batch");
	assert_string_equal(getenv("SLURM_K8S_STEP"), "overlap");
	assert_null(getenv("SLURM_K8S_JOIN"));
}

/* The image that the shell or the job around it has is for steps of their own. */
static void test_image_around(void **state)
{
	static const char *const images[] = { "outer:1", "none" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		begin(S_CTX_LOCAL);
		setenv("SLURM_JOB_ID", "7", 1);
		setenv("SLURM_K8S_IMAGE", images[i], 1);
		setenv("_SLURM_SPANK_OPTION_k8s_k8s_image", images[i], 1);
		setenv("SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_image", images[i], 1);
		fake_option("k8s-image", images[i], 0);
		fake_option("k8s-join", "3", 0);
		assert_int_equal(checked(), 0);
		assert_string_equal(host.log, "");
		assert_null(getenv("SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_image"));
		assert_null(getenv("_SLURM_SPANK_OPTION_k8s_k8s_image"));
		assert_string_equal(getenv("SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_join"), "3");
		assert_string_equal(getenv("SLURM_K8S_STEP"), "own");
		fake_end(NULL);
		fake_reset(NULL);
	}
}

static void refused(const char *why)
{
	assert_int_equal(checked(), -1);
	assert_string_equal(host.log, why);
	assert_int_equal(host.dlopens, 0);
	assert_null(getenv("SLURM_K8S_STEP"));
	fake_end(NULL);
	fake_reset(NULL);
}

static void join(void)
{
	begin(S_CTX_LOCAL);
	fake_option("k8s-join", NULL, 0);
	setenv("SLURM_JOB_ID", "7", 1);
}

#define NO_JOB "k8s: --k8s-join: only srun joins a running job, which is to be named: srun --jobid=JOB --overlap --k8s-join ...\n"

static void test_refusals(void **state)
{
	(void)state;
	join();
	unsetenv("SLURM_JOB_ID");
	refused("E " NO_JOB);
	join();
	fake_option("k8s-image", strchr(typed, '=') + 1, 0);
	refused("E k8s: --k8s-join and --k8s-image exclude each other: the container has its image\n");
	join();
	fake_option("k8s-mount", strchr(typed, '=') + 1, 0);
	fake_option("k8s-pvc", strchr(typed, '=') + 1, 0);
	refused("E k8s: --k8s-join and --k8s-mount exclude each other: the container has its volumes\n"
		"E k8s: --k8s-join and --k8s-pvc exclude each other: the container has its volumes\n");
	join();
	fake_option("k8s-scope", strchr(typed, '=') + 1, 0);
	refused("E k8s: --k8s-scope: must be job or steps: \"a:1\"\n"
		"E k8s: --k8s-join and --k8s-scope exclude each other: that is for a job\n");
	join();
	fake_option("k8s-join", "me", 0);
	refused("E k8s: --k8s-join: must be a step's number, or nothing for the job's script: \"me\"\n");
	join();
	fake_set(host.tool, "x11", "set");
	refused("E k8s: --k8s-join and --x11 exclude each other: X11 is forwarded to the Slurm node, and the Pod is not there\n");
	join();
	fake_set(host.tool, "interactive", "set");
	refused("E k8s: --k8s-join and --interactive exclude each other: an interactive step stays on the Slurm node\n");
	join();
	host.process_uid = 0;
	refused("E k8s: --k8s-join: root's jobs do not go to a Pod: submit as an ordinary user\n");
	begin(S_CTX_ALLOCATOR);
	fake_option("k8s-join", NULL, 0);
	refused("E " NO_JOB);
}

static void test_sbatch(void **state)
{
	(void)state;
	begin(S_CTX_ALLOCATOR);
	host.is_sbatch = true;
	words[1] = fake_file("job.sh", "#!/bin/sh\ntrue\n");
	optind = 1;
	fake_option("k8s-join", NULL, 0);
	assert_int_equal(checked(), -1);
	words[1] = typed;
	assert_string_equal(host.log, "E k8s: --k8s-join: only srun joins a running job: srun --jobid=JOB --overlap --k8s-join ...\n");
	assert_null(getenv("SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_join"));
}

static void begin_step(uint32_t step)
{
	begin(S_CTX_REMOTE);
	host.argv[0] = "hostname";
	host.step = step;
	fake_set(host.env, "SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_join", "3");
	fake_set(host.env, "SLURM_K8S_IMAGE", "outer:1");
}

static void test_step(void **state)
{
	(void)state;
	begin_step(5);
	fake_set(host.env, "SLURM_K8S_STEP", "own");
	assert_int_equal(fake_option("k8s-join", "3", 1), 0);
	assert_int_equal(fake_option("k8s-image", "outer:1", 1), 0);
	assert_int_equal(checked(), 0);
	assert_true(step_here()->is_ours);
	assert_null(step_here()->fault);
	assert_null(fake_env("SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_join"));
	assert_int_equal(slurm_spank_task_post_fork(SP, fake_argc, fake_argv), 0);
	assert_non_null(strstr(core->fields, "option.join=3\n"));
	assert_null(strstr(core->fields, "option.image="));
	assert_int_equal(slurm_spank_exit(SP, fake_argc, fake_argv), 0);
	for (size_t i = 0; i < core->relay_count; i++)
		close(core->relays[i]);
}

/* Whoever put it there: nothing of it runs on the host. */
static void test_unchecked(void **state)
{
	(void)state;
	begin_step(5);
	assert_int_equal(checked(), 0);
	assert_true(step_here()->is_ours);
	assert_non_null(strstr(step_here()->fault, "has not checked --k8s-join"));
	step_forget();
	fake_end(NULL);
	fake_reset(NULL);
	begin_step(SLURM_BATCH_SCRIPT);
	assert_int_equal(checked(), 0);
	assert_true(step_here()->is_ours);
	assert_string_equal(step_here()->fault, "--k8s-join: only srun joins a running job");
	step_forget();
}

#define T(name) cmocka_unit_test_setup_teardown(name, fake_reset, fake_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_srun), T(test_image_around), T(test_refusals), T(test_sbatch), T(test_step), T(test_unchecked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
