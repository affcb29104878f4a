// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "spank_life.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

static void test_native_job(void **state)
{
	char *argv0;

	(void)state;
	load("ok");
	argv0 = host.argv[0];
	assert_int_equal(fake_option("k8s-workdir", "/w", 1), 0);
	prepare();
	fork_done();
	assert_int_equal(become(), 0);
	finish();
	assert_int_equal(host.dlopens, 0);
	assert_ptr_equal(host.argv[0], argv0);
	assert_false(has_marker());
	assert_null(fake_env("SLURM_K8S_RELAY_FD"));
	assert_string_equal(host.log, "");
}

static void test_life(void **state)
{
	char script[256], line[300], number[16];
	int fd;

	(void)state;
	begin("ok");
	snprintf(script, sizeof(script), "%s", host.argv[0]);
	fake_set(host.env, "SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_image", "a:1");
	prepare();
	assert_int_equal(host.dlopens, 0);
	assert_null(fake_env("SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_image"));
	fd = keep_child_end();
	fork_done();
	assert_int_equal(host.dlopens, 1);
	assert_int_equal(core->calls[1], 1);
	assert_int_equal(core->relay_count, 2);
	asked("commands=1");
	asked("option.image=a:1");
	asked("job_id=42");
	asked("step_id=batch");
	asked("uid=1234");
	asked("gid=1235");
	asked("groups=1235,77");
	asked("cluster=testcluster");
	asked("node=n1");
	asked("cpus=4");
	asked("memory_mb=900");
	asked("nnodes=1");
	asked("node_id=0");
	asked("tasks=1");
	snprintf(line, sizeof(line), "state=%s/state", fake_folder);
	asked(line);
	snprintf(line, sizeof(line), "batch_argv0=%s", script);
	asked(line);
	assert_true(has_marker());

	give_child_end(fd);
	assert_int_equal(become(), 0);
	snprintf(line, sizeof(line), "%s/libexec/relay", fake_folder);
	assert_string_equal(host.argv[0], line);
	free(host.argv[0]);
	snprintf(number, sizeof(number), "%d", fd);
	assert_string_equal(fake_env("SLURM_K8S_RELAY_FD"), number);
	assert_string_equal(fake_env("SLURM_K8S_ARGV0"), script);
	assert_string_equal(fake_env("SLURM_K8S_BATCH"), "1");
	assert_int_equal(fcntl(fd, F_GETFD), 0);
	/* The two ends are each other's. */
	assert_int_equal(write(core->relays[0], "x", 1), 1);
	assert_int_equal(read(fd, line, 1), 1);

	finish();
	assert_int_equal(core->finished, 7);
	assert_int_equal(core->seconds, 20);
	assert_false(has_marker());
	close_relays();
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

static void test_newer_slurm(void **state)
{
	char *script;
	int fd;

	(void)state;
	begin("ok");
	script = host.argv[0];
	host.has_prepend = true;
	prepare();
	fd = keep_child_end();
	fork_done();
	give_child_end(fd);
	assert_int_equal(become(), 0);
	assert_ptr_equal(host.argv[0], script);
	assert_non_null(strstr(host.prepended[0], "/libexec/relay"));
	assert_string_equal(host.prepended[1], "--task");
	assert_string_equal(host.prepended[2], "--");
	assert_null(fake_env("SLURM_K8S_ARGV0"));
	free((char *)host.prepended[0]);
	finish();
	close_relays();
}

static void test_frames_before_task(void **state)
{
	int fd;

	(void)state;
	fd = begin_forked("ok");
	give_child_end(fd);
	assert_int_equal(write(core->relays[0], "SK8F\1\1", 6), 6);
	assert_int_equal(become(), 0);
	free(host.argv[0]);
	finish();
	close_relays();
}

static void test_left_over(void **state)
{
	(void)state;
	begin("ok");
	prepare();
	fork_done();
	close_relays();
	core->finish_rc = 1;
	core->text = "Pod p";
	finish();
	assert_true(has_marker());
	assert_logged("I k8s: job 42: left to the epilog: Pod p");
}

/* A script that stays here: no relay, no core, no marker; its sruns inherit the options. */
static void test_scope_steps(void **state)
{
	char *argv0;

	(void)state;
	begin("ok");
	argv0 = host.argv[0];
	assert_int_equal(fake_option("k8s-scope", "steps", 1), 0);
	fake_set(host.env, "SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_workdir", "/w");
	prepare();
	fork_done();
	assert_int_equal(become(), 0);
	finish();
	assert_ptr_equal(host.argv[0], argv0);
	assert_int_equal(host.dlopens, 0);
	assert_false(has_marker());
	assert_null(fake_env("SLURM_K8S_RELAY_FD"));
	assert_string_equal(fake_env("SLURM_K8S_IMAGE"), "a:1");
	assert_string_equal(fake_env("SLURM_K8S_WORKDIR"), "/w");
	assert_string_equal(fake_env("SLURM_K8S_SCOPE"), "steps");
	assert_null(fake_env("SLURM_K8S_RENDEZVOUS"));
	/* So that `unset SLURM_K8S_IMAGE` in the script is enough. */
	assert_null(fake_env("SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_workdir"));
	assert_string_equal(host.log, "");
}

static void test_scope_job(void **state)
{
	(void)state;
	begin("ok");
	assert_int_equal(fake_option("k8s-scope", "job", 1), 0);
	prepare();
	fork_done();
	assert_int_equal(core->calls[1], 1);
	close_relays();
	finish();
}

static void test_clone(void **state)
{
	(void)state;
	begin("ok");
	step_here()->pid = 1;
	prepare();
	fork_done();
	assert_int_equal(host.dlopens, 0);
	finish();
}

static void test_other_task_first(void **state)
{
	(void)state;
	begin("ok");
	host.tasks = 2;
	prepare();
	host.task = 1;
	fork_done();
	assert_int_equal(host.dlopens, 0);
	host.task = 0;
	fork_done();
	assert_int_equal(core->relay_count, 3);
	close_relays();
	finish();
}

/* The first task's relay alone has the other end of the socket of Slurm's commands. */
static void test_commands_socket(void **state)
{
	char number[16], byte, *script;
	int relay, commands;

	(void)state;
	begin("ok");
	script = host.argv[0];
	host.tasks = 2;
	prepare();
	relay = fcntl(step_here()->pairs[1][1], F_DUPFD_CLOEXEC, 100);
	commands = fcntl(step_here()->commands[1], F_DUPFD_CLOEXEC, 100);
	fork_done();
	assert_int_equal(core->relay_count, 3);
	step_here()->pairs[1][1] = relay;
	step_here()->commands[1] = commands;
	fake_set(host.env, "SLURM_K8S_COMMANDS_FD", "77");
	host.task = 1;
	assert_int_equal(become(), 0);
	free(host.argv[0]);
	host.argv[0] = script;
	assert_null(fake_env("SLURM_K8S_COMMANDS_FD"));
	step_here()->pairs[0][1] = step_here()->pairs[1][1];
	step_here()->pairs[1][1] = -1;
	host.task = 0;
	assert_int_equal(become(), 0);
	free(host.argv[0]);
	snprintf(number, sizeof(number), "%d", commands);
	assert_string_equal(fake_env("SLURM_K8S_COMMANDS_FD"), number);
	assert_int_equal(fcntl(commands, F_GETFD), 0);
	assert_int_equal(write(core->relays[2], "x", 1), 1);
	assert_int_equal(read(commands, &byte, 1), 1);
	close_relays();
	finish();
}

/* A submission by REST: no plugin at the other end. */
static void test_environment(void **state)
{
	(void)state;
	load("ok");
	fake_set(host.env, "SLURM_K8S_IMAGE", "rest:1");
	prepare();
	assert_true(step_here()->is_ours);
	fork_done();
	asked("option.image=rest:1");
	close_relays();
	finish();
}

static void legacy(const char *site)
{
	load("ok");
	fake_file("k8s.yaml", site);
	host.argv[0] = fake_file("slurm_script", "#!/bin/sh\n#K8S_IMAGE=old:1\n#K8S_SCRIPT=/s.sh\n");
}

static void test_legacy(void **state)
{
	int fd;

	(void)state;
	legacy("legacy_comments: yes\n");
	prepare();
	fd = keep_child_end();
	fork_done();
	asked("option.image=old:1");
	asked("legacy=1");
	asked("legacy_script=/s.sh");
	give_child_end(fd);
	assert_int_equal(become(), 0);
	free(host.argv[0]);
	assert_string_equal(fake_env("SLURM_K8S_SCRIPT"), "/s.sh");
	close_relays();
	finish();
}

static void test_legacy_made_an_option(void **state)
{
	(void)state;
	legacy("legacy_comments: yes\n");
	assert_int_equal(fake_option("k8s-image", "new:1", 1), 0);
	prepare();
	fork_done();
	asked("option.image=new:1");
	assert_null(strstr(core->fields, "legacy=1"));
	close_relays();
	finish();
}

static void test_legacy_off(void **state)
{
	(void)state;
	legacy("legacy_comments: no\n");
	prepare();
	assert_false(step_here()->is_ours);
	finish();
}

static void test_legacy_link(void **state)
{
	char link[128];

	(void)state;
	legacy("legacy_comments: yes\n");
	snprintf(link, sizeof(link), "%s/link", fake_folder);
	assert_false(symlink(host.argv[0], link));
	host.argv[0] = link;
	prepare();
	assert_false(step_here()->is_ours);
	snprintf(link, sizeof(link), "%s/fifo", fake_folder);
	assert_false(mkfifo(link, 0600));
	prepare();
	assert_false(step_here()->is_ours);
	finish();
}

#define T(name) cmocka_unit_test_setup_teardown(name, fake_reset, fake_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_native_job),
		T(test_life),
		T(test_commands_socket),
		T(test_newer_slurm),
		T(test_frames_before_task),
		T(test_left_over),
		T(test_scope_steps),
		T(test_scope_job),
		T(test_clone),
		T(test_other_task_first),
		T(test_environment),
		T(test_legacy),
		T(test_legacy_made_an_option),
		T(test_legacy_off),
		T(test_legacy_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
