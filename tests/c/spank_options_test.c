// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "spank_host.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../spank/arguments.h"
#include "../../spank/config.h"
#include "../../spank/options.h"

extern char **environ;

static char command_line[] = "--k8s-image=typed";
static char *words[] = { "sbatch", command_line, NULL };

static void begin(void)
{
	host.context = S_CTX_ALLOCATOR;
	fake_install("ok");
	assert_int_equal(slurm_spank_init(SP, fake_argc, fake_argv), 0);
	arguments_set(2, words);
}

static void test_table(void **state)
{
	(void)state;
	begin();
	assert_int_equal(host.option_count, OPTION_COUNT);
	for (int i = 0; i < host.option_count; i++) {
		assert_int_equal(host.options[i]->has_arg, i == OPTION_JOIN ? 2 : 1);
		assert_memory_equal(host.options[i]->usage, "[k8s] ", 6);
		assert_true(strlen(host.options[i]->name) + strlen(host.options[i]->arginfo) + 3 < 30);
	}
}

static void test_rank(void **state)
{
	char from_script[] = "script";

	(void)state;
	begin();
	assert_int_equal(fake_option("k8s-image", from_script, 0), 0);
	assert_string_equal(options_value(OPTION_IMAGE), "script");
	options_take(OPTION_IMAGE, "comment", SOURCE_COMMENT);
	assert_string_equal(options_value(OPTION_IMAGE), "script");
	assert_int_equal(fake_option("k8s-image", "script2", 0), 0);
	assert_string_equal(options_value(OPTION_IMAGE), "script2");
	setenv("SLURM_K8S_IMAGE", "environment", 1);
	options_take_environment(environ, false);
	assert_string_equal(options_value(OPTION_IMAGE), "environment");
	assert_int_equal(fake_option("k8s-image", strchr(command_line, '=') + 1, 0), 0);
	assert_string_equal(options_value(OPTION_IMAGE), "typed");
	options_take_environment(environ, false);
	assert_string_equal(options_value(OPTION_IMAGE), "typed");
	assert_int_equal(options_source(OPTION_IMAGE), SOURCE_COMMAND);
	assert_null(options_value(OPTION_WORKDIR));
	assert_null(options_faults());
}

static void test_faults(void **state)
{
	(void)state;
	begin();
	/* Never from the callback: it would end sbatch at the first, or lose the option in slurmstepd. */
	assert_int_equal(fake_option("k8s-image", "-n1", 0), 0);
	assert_int_equal(fake_option("k8s-workdir", "", 1), 0);
	assert_int_equal(fake_option("k8s-workdir", NULL, 1), 0);
	assert_int_equal(fake_option("k8s-image", "-n1", 1), 0);
	assert_non_null(strstr(options_faults(), "--k8s-image: \"-n1\" starts with '-'"));
	assert_non_null(strstr(options_faults(), "--k8s-image=IMAGE"));
	assert_non_null(strstr(options_faults(), "--k8s-workdir: empty value"));
	/* A value that is named twice is a fault once. */
	assert_null(strstr(strstr(options_faults(), "-n1") + 1, "-n1"));
}

static void test_words(void **state)
{
	(void)state;
	begin();
	assert_int_equal(fake_option("k8s-scope", "job", 0), 0);
	assert_false(options_leave_script());
	assert_int_equal(fake_option("k8s-scope", "steps", 0), 0);
	assert_true(options_leave_script());
	setenv("SLURM_K8S_RENDEZVOUS", "pytorch", 1);
	options_take_environment(environ, false);
	assert_string_equal(options_value(OPTION_RENDEZVOUS), "pytorch");
	assert_null(options_faults());
	assert_int_equal(fake_option("k8s-scope", "Steps", 0), 0);
	setenv("SLURM_K8S_RENDEZVOUS", "mpi", 1);
	options_take_environment(environ, false);
	assert_string_equal(options_faults(), "--k8s-scope: must be job or steps: \"Steps\"\n"
					      "--k8s-rendezvous: must be none or pytorch: \"mpi\"");
}

static void test_none(void **state)
{
	(void)state;
	begin();
	assert_false(options_want_pod() || options_want_none() || options_ask());
	assert_int_equal(fake_option("k8s-image", "none:latest", 0), 0);
	assert_true(options_want_pod() && options_ask());
	assert_int_equal(fake_option("k8s-image", "none", 0), 0);
	assert_true(options_want_none());
	assert_false(options_want_pod());
}

static void test_join(void **state)
{
	static const char *const batch[] = { NULL, "", "(null)", "batch" };

	(void)state;
	for (size_t i = 0; i < sizeof(batch) / sizeof(batch[0]); i++) {
		begin();
		assert_false(options_want_join());
		assert_string_equal(options_subject(), "--k8s-image");
		assert_int_equal(fake_option("k8s-join", batch[i], 0), 0);
		assert_true(options_want_join() && options_ask());
		assert_string_equal(options_value(OPTION_JOIN), "batch");
		assert_string_equal(options_subject(), "--k8s-join");
		assert_null(options_faults());
		fake_end(NULL);
		fake_reset(NULL);
	}
	begin();
	setenv("SLURM_K8S_JOIN", "batch", 1);
	options_take_environment(environ, true);
	assert_false(options_want_join());
	assert_int_equal(fake_option("k8s-join", "12", 0), 0);
	assert_null(options_faults());
	assert_int_equal(options_export(SP), 0);
	assert_string_equal(getenv("_SLURM_SPANK_OPTION_k8s_k8s_join"), "12");
	/* Nothing that an srun inside would take for its own. */
	assert_string_equal(getenv("SLURM_K8S_JOIN"), "batch");
	assert_int_equal(fake_option("k8s-join", "1.0", 0), 0);
	assert_string_equal(options_faults(), "--k8s-join: must be a step's number, or nothing for the job's script: \"1.0\"");
	options_drop(OPTION_JOIN);
	assert_false(options_want_join());
}

static void test_empty_environment_is_unset(void **state)
{
	(void)state;
	begin();
	setenv("SLURM_K8S_IMAGE", "", 1);
	options_take_environment(environ, false);
	assert_null(options_value(OPTION_IMAGE));
	assert_null(options_faults());
}

static void test_carried(void **state)
{
	char *job[] = { "X=1", "SLURM_K8S_IMAGE=own", "SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_image=carried", NULL };

	(void)state;
	begin();
	options_take_environment(job, false);
	assert_string_equal(options_value(OPTION_IMAGE), "own");
	options_take_environment(job, true);
	assert_string_equal(options_value(OPTION_IMAGE), "carried");
	/* What Slurm itself carried may be an outer job's. */
	assert_int_equal(fake_option("k8s-image", "outer", 1), 0);
	options_take_environment(job, true);
	assert_string_equal(options_value(OPTION_IMAGE), "carried");
}

static void test_export_and_hide(void **state)
{
	(void)state;
	begin();
	options_take(OPTION_IMAGE, "a:1", SOURCE_COMMENT);
	assert_int_equal(options_export(SP), 0);
	assert_string_equal(getenv("SLURM_K8S_IMAGE"), "a:1");
	assert_string_equal(getenv("_SLURM_SPANK_OPTION_k8s_k8s_image"), "a:1");
	assert_string_equal(fake_control("_SLURM_SPANK_OPTION_k8s_k8s_image"), "a:1");
	assert_string_equal(getenv("SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_image"), "a:1");
	assert_null(getenv("SLURM_K8S_WORKDIR"));
	options_withdraw();
	assert_string_equal(getenv("SLURM_K8S_IMAGE"), "a:1");
	assert_null(getenv("_SLURM_SPANK_OPTION_k8s_k8s_image"));
	assert_null(getenv("SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_image"));
	host.setenv_fails = true;
	assert_int_equal(options_export(SP), -1);
	fake_set(host.env, "SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_image", "a:1");
	fake_set(host.env, "SLURM_K8S_IMAGE", "a:1");
	options_hide(SP);
	assert_null(fake_env("SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_image"));
	assert_string_equal(fake_env("SLURM_K8S_IMAGE"), "a:1");
}

static void test_register_fails(void **state)
{
	(void)state;
	fake_install("ok");
	host.register_fails = true;
	host.context = S_CTX_LOCAL;
	assert_int_equal(slurm_spank_init(SP, fake_argc, fake_argv), -1);
	host.context = S_CTX_REMOTE;
	assert_int_equal(slurm_spank_init(SP, fake_argc, fake_argv), 0);
}

static void test_config(void **state)
{
	char *good[] = { "config=/a", "libexec=/b", "state=/c" };
	char *bad[] = { "config=relative", "nothing", "libexec=" };
	const struct config *config;

	(void)state;
	config_forget();
	config = config_load(3, good);
	assert_string_equal(config->site, "/a");
	assert_string_equal(config->libexec, "/b");
	assert_string_equal(config->state, "/c");
	assert_null(config->fault);
	assert_ptr_equal(config_load(3, bad), config);
	assert_null(config->fault);
	config_forget();
	config = config_load(3, bad);
	assert_non_null(strstr(config->fault, "config=relative: not an absolute path"));
	assert_non_null(strstr(config->fault, "nothing: unknown argument"));
	assert_non_null(strstr(config->fault, "libexec=: not"));
	assert_string_equal(config->site, "/etc/slurm/k8s.yaml");
}

static void test_legacy_key(void **state)
{
	static const char *const on[] = { "legacy_comments: yes\n", "a: 1\nlegacy_comments:   True # x\nb: 2\n",
					  "legacy_comments: on", "legacy_comments: no\nlegacy_comments: yes\r\n" };
	static const char *const off[] = { "", "legacy_comments: no\n", " legacy_comments: yes\n", "#legacy_comments: yes\n",
					   "legacy_comments: \"yes\"\n", "legacy_comments: yesterday\n",
					   "legacy_comments: yes no\n", "legacy_comments_x: yes\n", "legacy_comments:\n" };

	(void)state;
	for (size_t i = 0; i < sizeof(on) / sizeof(on[0]); i++)
		assert_true(config_legacy_comments(fake_file("site", on[i])));
	for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++)
		assert_false(config_legacy_comments(fake_file("site", off[i])));
	assert_false(config_legacy_comments("/nonexistent/k8s.yaml"));
}

#define T(name) cmocka_unit_test_setup_teardown(name, fake_reset, fake_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_table),	 T(test_rank),		  T(test_faults),	  T(test_words),     T(test_none), T(test_join), T(test_empty_environment_is_unset),
		T(test_carried), T(test_export_and_hide), T(test_register_fails), T(test_config),
		T(test_legacy_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
