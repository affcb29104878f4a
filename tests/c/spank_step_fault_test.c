// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "spank_life.h"

#include <stdlib.h>

static void test_no_core(void **state)
{
	(void)state;
	begin(NULL);
	fails_in_task("E k8s: cannot load the core:");
}

static void test_wrong_abi(void **state)
{
	(void)state;
	begin("abi");
	fails_in_task("speaks version 99");
}

static void test_core_refuses(void **state)
{
	(void)state;
	begin("ok");
	core->start_rc = 0;
	core->text = "will not";
	fails_in_task("E k8s: will not");
	core->text = NULL;
}

static void test_core_refuses_in_silence(void **state)
{
	(void)state;
	begin("ok");
	core->start_rc = -1;
	fails_in_task("E k8s: the core did not start");
}

static void test_no_relay(void **state)
{
	char path[128];
	int fd;

	(void)state;
	begin("ok");
	snprintf(path, sizeof(path), "%s/libexec/relay", fake_folder);
	assert_false(unlink(path));
	prepare();
	fd = keep_child_end();
	fork_done();
	give_child_end(fd);
	assert_int_equal(become(), -1);
	assert_logged("libexec/relay: No such file");
	finish();
	close_relays();
}

static void test_no_environment(void **state)
{
	int fd;

	(void)state;
	fd = begin_forked("ok");
	give_child_end(fd);
	host.setenv_fails = true;
	assert_int_equal(become(), -1);
	finish();
	close_relays();
}

static void test_bad_value(void **state)
{
	(void)state;
	load("ok");
	assert_int_equal(fake_option("k8s-image", "-n1", 1), 0);
	fails_in_task("starts with '-'");
	assert_int_equal(host.dlopens, 0);
}

static void test_root_job(void **state)
{
	(void)state;
	begin("ok");
	host.uid = 0;
	fails_in_task("root's jobs");
	assert_int_equal(host.dlopens, 0);
}

static void test_container(void **state)
{
	(void)state;
	begin("ok");
	fake_set(host.env, "SLURM_CONTAINER", "/bundle");
	fails_in_task("--container");
}

static void test_bad_plugstack(void **state)
{
	char *bad[] = { "rubbish" };

	(void)state;
	host.context = S_CTX_REMOTE;
	host.argv[0] = "script";
	assert_int_equal(slurm_spank_init(SP, 1, bad), 0);
	assert_int_equal(fake_option("k8s-image", "a:1", 1), 0);
	assert_int_equal(slurm_spank_init_post_opt(SP, 1, bad), 0);
	assert_int_equal(slurm_spank_task_post_fork(SP, 1, bad), 0);
	assert_int_equal(slurm_spank_task_init(SP, 1, bad), -1);
	assert_logged("plugstack.conf: rubbish: unknown argument");
	assert_int_equal(slurm_spank_exit(SP, 1, bad), 0);
	assert_int_equal(host.dlopens, 0);
}

static void test_wrong_scope(void **state)
{
	(void)state;
	begin("ok");
	fake_set(host.env, "SLURM_K8S_SCOPE", "step");
	fails_in_task("E k8s: --k8s-scope: must be job or steps: \"step\"");
	assert_int_equal(host.dlopens, 0);
}

/* Its sruns would run on the host, and nobody said so. */
static void test_scope_steps_without_environment(void **state)
{
	(void)state;
	begin("ok");
	assert_int_equal(fake_option("k8s-scope", "steps", 1), 0);
	host.setenv_fails = true;
	fails_in_task("E k8s: --k8s-scope: Slurm refuses");
	assert_int_equal(host.dlopens, 0);
}

static void test_slurm_answers_nothing(void **state)
{
	(void)state;
	begin("ok");
	host.items_fail = true;
	fails_in_task("k8s: ");
	assert_int_equal(host.dlopens, 0);
}

static void test_open_state_folder(void **state)
{
	char path[128];

	(void)state;
	begin("ok");
	snprintf(path, sizeof(path), "%s/state", fake_folder);
	assert_false(mkdir(path, 0755));
	assert_false(chmod(path, 0755));
	prepare();
	fork_done();
	assert_logged("no marker for the epilog");
	assert_int_equal(core->calls[1], 1);
	close_relays();
	finish();
}

#define T(name) cmocka_unit_test_setup_teardown(name, fake_reset, fake_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_no_core),
		T(test_wrong_abi),
		T(test_core_refuses),
		T(test_core_refuses_in_silence),
		T(test_no_relay),
		T(test_no_environment),
		T(test_bad_value),
		T(test_root_job),
		T(test_container),
		T(test_bad_plugstack),
		T(test_wrong_scope),
		T(test_scope_steps_without_environment),
		T(test_slurm_answers_nothing),
		T(test_open_state_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
