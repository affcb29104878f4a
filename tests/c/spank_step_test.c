// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "spank_host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../spank/options.h"
#include "../../spank/step.h"

static struct fake_core *core;

static void load(const char *kind)
{
	host.context = S_CTX_REMOTE;
	core = fake_core_ok();
	fake_install(kind);
	host.argv[0] = fake_file("slurm_script", "#!/bin/sh\necho\n");
	assert_int_equal(slurm_spank_init(SP, fake_argc, fake_argv), 0);
}

static void begin(const char *kind)
{
	load(kind);
	/* Slurm calls it twice in a step. */
	assert_int_equal(fake_option("k8s-image", "a:1", 1), 0);
	assert_int_equal(fake_option("k8s-image", "a:1", 1), 0);
}

static void prepare(void)
{
	assert_int_equal(slurm_spank_init_post_opt(SP, fake_argc, fake_argv), 0);
}

static void fork_done(void)
{
	assert_int_equal(slurm_spank_task_post_fork(SP, fake_argc, fake_argv), 0);
}

static int become(void)
{
	return slurm_spank_task_init(SP, fake_argc, fake_argv);
}

static void finish(void)
{
	assert_int_equal(slurm_spank_exit(SP, fake_argc, fake_argv), 0);
}

/* In the test there is no fork: the child's end is kept for it. */
static int keep_child_end(void)
{
	return fcntl(step_here()->pairs[0][1], F_DUPFD_CLOEXEC, 100);
}

static void give_child_end(int fd)
{
	step_here()->pairs[0][1] = fd;
}

static bool has_marker_of(const char *name)
{
	char path[128];
	struct stat status;

	snprintf(path, sizeof(path), "%s/state/%s", fake_folder, name);
	return !stat(path, &status);
}

static bool has_marker(void)
{
	return has_marker_of("n1.42");
}

static void asked(const char *field)
{
	char line[600];

	snprintf(line, sizeof(line), "%s\n", field);
	if (!strstr(core->fields, line))
		fail_msg("no %s in %s", field, core->fields);
}

static void close_relays(void)
{
	for (size_t i = 0; i < core->relay_count; i++)
		close(core->relays[i]);
}

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
	begin("ok");
	prepare();
	fd = keep_child_end();
	fork_done();
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

/* The parent's callbacks are well, the task says why and fails. */
static void fails_in_task(const char *why)
{
	char *argv0 = host.argv[0];
	int fd;

	prepare();
	fd = step_here()->pairs ? keep_child_end() : -1;
	fork_done();
	if (step_here()->pairs)
		give_child_end(fd);
	assert_int_equal(become(), -1);
	assert_logged(why);
	assert_ptr_equal(host.argv[0], argv0);
	finish();
	assert_false(has_marker());
}

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
	begin("ok");
	prepare();
	fd = keep_child_end();
	fork_done();
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

static void test_slurm_answers_nothing(void **state)
{
	(void)state;
	begin("ok");
	host.items_fail = true;
	fails_in_task("k8s: ");
	assert_int_equal(host.dlopens, 0);
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
		T(test_native_job),
		T(test_life),
		T(test_commands_socket),
		T(test_newer_slurm),
		T(test_frames_before_task),
		T(test_left_over),
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
		T(test_scope_steps),
		T(test_scope_job),
		T(test_wrong_scope),
		T(test_scope_steps_without_environment),
		T(test_numbered_step),
		T(test_numbered_step_of_scope),
		T(test_numbered_step_on_the_host),
		T(test_numbered_step_left_over),
		T(test_image_of_srun),
		T(test_unchecked_step),
		T(test_overlap),
		T(test_step_without_image),
		T(test_extern_step),
		T(test_interactive_step),
		T(test_slurm_answers_nothing),
		T(test_clone),
		T(test_other_task_first),
		T(test_environment),
		T(test_legacy),
		T(test_legacy_made_an_option),
		T(test_legacy_off),
		T(test_legacy_link),
		T(test_open_state_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
