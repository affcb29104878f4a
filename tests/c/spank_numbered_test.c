// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "spank_life.h"

#include <stdlib.h>

/* As the plugin in srun leaves the environment. */
static void begin_numbered(void)
{
	load("ok");
	host.argv[0] = "hostname";
	host.step = 3;
	host.node = 1;
	host.nodes = 2;
	host.tasks = 2;
	fake_set(host.env, "SLURM_K8S_STEP", "own");
	fake_set(host.env, "SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_image", "a:1");
	fake_set(host.env, "_SLURM_SPANK_OPTION_k8s_k8s_image", "a:1");
	assert_int_equal(fake_option("k8s-image", "a:1", 1), 0);
}

static void test_numbered_step(void **state)
{
	int fd;

	(void)state;
	begin_numbered();
	fake_set(host.env, "SLURM_K8S_BATCH", "1"); /* whoever said so */
	prepare();
	assert_null(fake_env("SLURM_K8S_STEP"));
	assert_null(fake_env("SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_image"));
	assert_null(fake_env("_SLURM_SPANK_OPTION_k8s_k8s_image"));
	fd = keep_child_end();
	fork_done();
	assert_int_equal(core->relay_count, 3);
	asked("job_id=42");
	asked("step_id=3");
	asked("nnodes=2");
	asked("node_id=1");
	asked("tasks=2");
	assert_null(strstr(core->fields, "batch_argv0"));
	assert_true(has_marker_of("n1.42.3.1"));
	assert_false(has_marker());
	give_child_end(fd);
	assert_int_equal(become(), 0);
	assert_non_null(strstr(host.argv[0], "/libexec/relay"));
	free(host.argv[0]);
	/* As typed: it is looked up in the container. */
	assert_string_equal(fake_env("SLURM_K8S_ARGV0"), "hostname");
	assert_null(fake_env("SLURM_K8S_BATCH"));
	finish();
	assert_false(has_marker_of("n1.42.3.1"));
	close_relays();
}

/* The step of a script that stays goes to a Pod. */
static void test_numbered_step_of_scope(void **state)
{
	(void)state;
	begin_numbered();
	fake_set(host.env, "SLURM_K8S_SCOPE", "steps");
	fake_set(host.env, "SLURM_K8S_RENDEZVOUS", "pytorch");
	prepare();
	fork_done();
	asked("step_id=3");
	asked("option.rendezvous=pytorch");
	close_relays();
	finish();
}

/* What Slurm carried is of the salloc around it. */
static void test_numbered_step_on_the_host(void **state)
{
	(void)state;
	begin_numbered();
	fake_set(host.env, "SLURM_K8S_IMAGE", "none");
	fake_set(host.env, "SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_image", "none");
	prepare();
	fork_done();
	assert_int_equal(become(), 0);
	finish();
	assert_string_equal(host.argv[0], "hostname");
	assert_int_equal(host.dlopens, 0);
	assert_false(has_marker_of("n1.42.3.1"));
	assert_string_equal(host.log, "");
}

static void test_numbered_step_left_over(void **state)
{
	(void)state;
	begin_numbered();
	prepare();
	fork_done();
	close_relays();
	core->finish_rc = 1;
	core->text = "Pod p";
	finish();
	assert_true(has_marker_of("n1.42.3.1"));
	assert_logged("I k8s: job 42.3: left to the epilog: Pod p");
}

/* srun knows best: what Slurm carried may be of the salloc around it. */
static void test_image_of_srun(void **state)
{
	(void)state;
	begin_numbered();
	fake_set(host.env, "SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_image", "b:1");
	prepare();
	fork_done();
	asked("option.image=b:1");
	close_relays();
	finish();
}

/* An srun without the plugin, under SLURM_K8S_IMAGE: it may be --multi-prog. */
static void test_unchecked_step(void **state)
{
	(void)state;
	load("ok");
	host.step = 0;
	fake_set(host.env, "SLURM_K8S_IMAGE", "a:1");
	fails_in_task("the srun of this step has not checked --k8s-image");
	assert_int_equal(host.dlopens, 0);
}

static void overlap(const char *word, bool want)
{
	fake_end(NULL);
	fake_reset(NULL);
	begin_numbered();
	fake_set(host.env, "SLURM_K8S_STEP", word);
	prepare();
	assert_true(step_here()->is_checked);
	assert_int_equal(step_here()->is_overlap, want);
	fork_done();
	close_relays();
	finish();
}

static void test_overlap(void **state)
{
	(void)state;
	overlap("own", false);
	overlap("overlap", true);
	overlap("overlapping", false);
}

static void bound(const char *type, bool want)
{
	fake_end(NULL);
	fake_reset(NULL);
	begin_numbered();
	if (type)
		fake_set(host.env, "SLURM_CPU_BIND_TYPE", type);
	prepare();
	fork_done();
	assert_int_equal(strstr(core->fields, "cpu_bind=1") != NULL, want);
	close_relays();
	finish();
}

/* --cpu-bind=verbose is no binding. */
static void test_bound(void **state)
{
	(void)state;
	bound(NULL, false);
	bound("", false);
	bound("map_cpu:", true);
	bound("threads,mask_ldom:", true);
}

static void test_step_without_image(void **state)
{
	char *argv0;

	(void)state;
	load("ok");
	host.step = 0;
	argv0 = host.argv[0];
	prepare();
	fork_done();
	assert_int_equal(become(), 0);
	finish();
	assert_ptr_equal(host.argv[0], argv0);
	assert_int_equal(host.dlopens, 0);
}

static void ignored(uint32_t id)
{
	begin("ok");
	host.step = id;
	fake_set(host.env, "SLURM_K8S_IMAGE", "a:1");
	prepare();
	host.task = -1;
	fork_done();
	host.task = 0;
	assert_int_equal(become(), 0);
	finish();
	assert_int_equal(host.dlopens, 0);
	assert_string_equal(host.log, "");
}

static void test_extern_step(void **state)
{
	(void)state;
	ignored(SLURM_EXTERN_CONT);
}

static void test_interactive_step(void **state)
{
	(void)state;
	ignored(SLURM_INTERACTIVE_STEP);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fake_reset, fake_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_numbered_step),
		T(test_numbered_step_of_scope),
		T(test_numbered_step_on_the_host),
		T(test_numbered_step_left_over),
		T(test_image_of_srun),
		T(test_unchecked_step),
		T(test_overlap),
		T(test_bound),
		T(test_step_without_image),
		T(test_extern_step),
		T(test_interactive_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
