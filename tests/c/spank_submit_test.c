// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "spank_submitter.h"

#include <fcntl.h>
#include <stdlib.h>

#include "../../spank/components.h"

static void test_without_option(void **state)
{
	(void)state;
	begin("ok");
	script("#!/bin/sh\n#K8S_IMAGE=a\necho\n");
	setenv("SLURM_K8S_WORKDIR", "/w", 1);
	assert_int_equal(submit(), 0);
	assert_int_equal(host.dlopens, 0);
	assert_string_equal(host.log, "");
	assert_null(getenv("_SLURM_SPANK_OPTION_k8s_k8s_image"));
	assert_int_equal(slurm_spank_exit(SP, fake_argc, fake_argv), 0);
}

static void test_without_option_and_broken(void **state)
{
	char *bad[] = { "rubbish" };

	(void)state;
	host.context = S_CTX_ALLOCATOR;
	assert_int_equal(slurm_spank_init(SP, 1, bad), 0);
	assert_int_equal(slurm_spank_init_post_opt(SP, 1, bad), 0);
	assert_int_equal(host.dlopens, 0);
}

static void test_request(void **state)
{
	char line[600];

	(void)state;
	begin("ok");
	script("#!/bin/sh\necho\n");
	fake_set(host.tool, "nodes", "1");
	fake_set(host.tool, "output", "/o");
	fake_set(host.tool, "chdir", "/tmp");
	fake_option("k8s-image", "a:1", 0);
	assert_int_equal(submit(), 0);
	assert_int_equal(host.dlopens, 1);
	assert_int_equal(core->calls[0], 1);
	snprintf(line, sizeof(line), "script=%s", words[1]);
	asked(line);
	snprintf(line, sizeof(line), "config=%s/k8s.yaml", fake_folder);
	asked(line);
	asked("option.image=a:1");
	asked("tool=sbatch");
	asked("uid=1234");
	asked("directory=/tmp");
	asked("sbatch.nodes=1");
	asked("sbatch.output=/o");
	assert_null(strstr(core->fields, "stdin="));
	assert_null(strstr(core->fields, "legacy"));
	assert_string_equal(getenv("SLURM_K8S_IMAGE"), "a:1");
	assert_string_equal(fake_control("_SLURM_SPANK_OPTION_k8s_k8s_image"), "a:1");
	assert_true(core->host->size == sizeof(struct k8s_host));
}

static void test_wrap(void **state)
{
	(void)state;
	begin("ok");
	arguments_set(1, words);
	fake_set(host.tool, "wrap", "echo hi");
	fake_option("k8s-image", "a:1", 0);
	assert_int_equal(submit(), 0);
	asked("wrap=echo hi");
	assert_null(strstr(core->fields, "script="));
	assert_null(strstr(core->fields, "stdin="));
}

static int with_stdin(int fd, int (*call)(void))
{
	int saved = dup(0), result;

	dup2(fd, 0);
	close(fd);
	result = call();
	dup2(saved, 0);
	close(saved);
	return result;
}

static void test_stdin(void **state)
{
	int fd, pipe_ends[2];

	(void)state;
	begin("ok");
	arguments_set(1, words);
	fake_option("k8s-image", "a:1", 0);
	fd = open(fake_file("in", "#!/bin/sh\necho\n"), O_RDONLY);
	lseek(fd, 0, SEEK_END);
	assert_int_equal(with_stdin(fd, submit), 0);
	asked("stdin=1");
	asked("head=#!/bin/sh\necho\n");
	fake_end(state);
	fake_reset(state);
	begin("ok");
	fake_option("k8s-image", "a:1", 0);
	assert_int_equal(pipe(pipe_ends), 0);
	close(pipe_ends[1]);
	assert_int_equal(with_stdin(pipe_ends[0], submit), 0);
	asked("stdin=1");
	assert_null(strstr(core->fields, "head="));
}

static void test_refused_by_core(void **state)
{
	(void)state;
	begin("ok");
	script("#!/bin/sh\n");
	core->validate_rc = 1;
	core->text = "--k8s-image: one\nk8s: two\n";
	fake_option("k8s-image", "a:1", 0);
	assert_int_equal(submit(), -1);
	assert_string_equal(host.log, "E k8s: --k8s-image: one\nE k8s: two\n");
	assert_null(getenv("_SLURM_SPANK_OPTION_k8s_k8s_image"));
}

static void test_warned_by_core(void **state)
{
	(void)state;
	begin("ok");
	script("#!/bin/sh\n");
	core->text = "warning: a\nwarning: \x1b[31mred";
	fake_option("k8s-image", "a:1", 0);
	assert_int_equal(submit(), 0);
	assert_string_equal(host.log, "I k8s: warning: a\nI k8s: warning: ?[31mred\n");
}

static void test_workdir_alone(void **state)
{
	(void)state;
	begin("ok");
	script("#!/bin/sh\n");
	fake_option("k8s-workdir", "/w", 0);
	assert_int_equal(submit(), -1);
	assert_logged("--k8s-workdir: does nothing without --k8s-image");
	assert_int_equal(host.dlopens, 0);
}

static void test_scope_alone(void **state)
{
	(void)state;
	begin("ok");
	script("#!/bin/sh\n");
	/* Set for all jobs of a shell. */
	setenv("SLURM_K8S_RENDEZVOUS", "pytorch", 1);
	assert_int_equal(submit(), 0);
	components_forget(); /* another sbatch */
	fake_option("k8s-scope", "steps", 0);
	assert_int_equal(submit(), -1);
	assert_string_equal(host.log, "E k8s: --k8s-scope: does nothing without --k8s-image\n");
	assert_int_equal(host.dlopens, 0);
}

static void test_scope(void **state)
{
	(void)state;
	begin("ok");
	script("#!/bin/sh\n");
	fake_option("k8s-image", "a:1", 0);
	fake_option("k8s-scope", "steps", 0);
	fake_option("k8s-rendezvous", "pytorch", 0);
	fake_option("k8s-mount", "data:/d:ro,home", 0);
	fake_option("k8s-pvc", "10Gi:fast", 0);
	fake_option("k8s-cluster", "auto", 0);
	assert_int_equal(submit(), 0);
	asked("option.cluster=auto");
	assert_string_equal(getenv("SLURM_K8S_CLUSTER"), "auto");
	asked("option.mount=data:/d:ro,home");
	asked("option.pvc=10Gi:fast");
	assert_string_equal(getenv("SLURM_K8S_MOUNT"), "data:/d:ro,home");
	asked("option.scope=steps");
	asked("option.rendezvous=pytorch");
	assert_string_equal(getenv("SLURM_K8S_SCOPE"), "steps");
	assert_string_equal(getenv("_SLURM_SPANK_OPTION_k8s_k8s_scope"), "steps");
	components_forget();
	fake_option("k8s-scope", "script", 0);
	assert_int_equal(submit(), -1);
	assert_logged("E k8s: --k8s-scope: must be job or steps: \"script\"");
}

/* Over the image of the shell, and of the file's own lines; as root too. */
static void test_image_none(void **state)
{
	(void)state;
	begin("ok");
	host.process_uid = 0;
	script("#!/bin/sh\n");
	setenv("SLURM_K8S_IMAGE", "none", 1);
	fake_set(host.tool, "container", "/bundle");
	fake_option("k8s-image", "a:1", 0);
	fake_option("k8s-workdir", "/w", 0);
	assert_int_equal(submit(), 0);
	assert_string_equal(host.log, "");
	assert_int_equal(host.dlopens, 0);
	assert_string_equal(getenv("SLURM_K8S_IMAGE"), "none");
	assert_string_equal(getenv("_SLURM_SPANK_OPTION_k8s_k8s_image"), "none");
	fake_option("k8s-scope", "script", 0);
	assert_int_equal(submit(), -1);
	assert_logged("--k8s-scope: must be");
}

static const char legacy_file[] = "#!/bin/sh\n#K8S_IMAGE=old:1\n#K8S_WORKDIR=/old\n#K8S_SCRIPT=/s.sh\n";

static void test_legacy(void **state)
{
	(void)state;
	begin("ok");
	fake_file("k8s.yaml", "legacy_comments: yes\n");
	script(legacy_file);
	assert_int_equal(submit(), 0);
	asked("option.image=old:1");
	asked("option.workdir=/old");
	asked("legacy=1");
	asked("legacy_script=/s.sh");
	assert_string_equal(getenv("SLURM_K8S_SCRIPT"), "/s.sh");
	assert_string_equal(getenv("_SLURM_SPANK_OPTION_k8s_k8s_image"), "old:1");
}

static void test_legacy_loses_to_option(void **state)
{
	char text[256];

	(void)state;
	begin("ok");
	fake_file("k8s.yaml", "legacy_comments: yes\n");
	snprintf(text, sizeof(text), "%secho\n", legacy_file);
	script(text);
	fake_option("k8s-image", "new:1", 0);
	assert_int_equal(submit(), 0);
	asked("option.image=new:1");
	asked("option.workdir=/old");
	assert_null(strstr(core->fields, "legacy=1"));
	assert_null(strstr(core->fields, "legacy_script="));
}

static void test_legacy_off(void **state)
{
	(void)state;
	begin("ok");
	fake_file("k8s.yaml", "legacy_comments: no\n");
	script(legacy_file);
	assert_int_equal(submit(), 0);
	assert_int_equal(host.dlopens, 0);
}

static void test_slurmd_does_nothing(void **state)
{
	(void)state;
	host.context = S_CTX_SLURMD;
	fake_install("ok");
	assert_int_equal(slurm_spank_init(SP, fake_argc, fake_argv), 0);
	assert_int_equal(slurm_spank_exit(SP, fake_argc, fake_argv), 0);
	assert_int_equal(host.option_count, 0);
	assert_int_equal(host.dlopens, 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fake_reset, fake_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_without_option),
		T(test_without_option_and_broken),
		T(test_request),
		T(test_wrap),
		T(test_stdin),
		T(test_refused_by_core),
		T(test_warned_by_core),
		T(test_workdir_alone),
		T(test_scope_alone),
		T(test_scope),
		T(test_image_none),
		T(test_legacy),
		T(test_legacy_loses_to_option),
		T(test_legacy_off),
		T(test_slurmd_does_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
