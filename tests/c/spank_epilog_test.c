// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "spank_host.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../../spank/marker.h"

static struct fake_core *core;

static void epilog(const char *kind)
{
	host.context = S_CTX_JOB_SCRIPT;
	core = fake_core_ok();
	fake_install(kind);
}

static void run_epilog(void)
{
	assert_int_equal(slurm_spank_job_epilog(SP, fake_argc, fake_argv), 0);
}

static void test_epilog_of_native_job(void **state)
{
	(void)state;
	epilog("ok");
	run_epilog();
	assert_int_equal(host.dlopens, 0);
}

static void test_epilog_by_option(void **state)
{
	(void)state;
	epilog("ok");
	host.epilog_image = "a:1";
	run_epilog();
	assert_int_equal(core->calls[3], 1);
	assert_int_equal(core->seconds, 20);
	assert_non_null(strstr(core->fields, "job_id=42\nuid=1234\ncluster=testcluster\nnode=n1\n"));
	assert_non_null(strstr(core->fields, "batch=1\n"));
	assert_null(strstr(core->fields, "step="));
}

static void test_epilog_by_marker(void **state)
{
	(void)state;
	epilog("ok");
	assert_int_equal(marker_set(fake_argv[2] + 6, "n1", 42, ""), 0);
	core->reap_rc = 1;
	core->text = "Pod p";
	run_epilog();
	assert_logged("I k8s: job 42: left to the collector: Pod p");
	assert_int_equal(core->calls[3], 1);
	assert_false(marker_is_set(fake_argv[2] + 6, "n1", 42, ""));
}

/* slurmstepd has removed the marker: nothing is left, and no Go is loaded to say so. */
static void test_epilog_of_clean_end(void **state)
{
	(void)state;
	epilog("ok");
	host.epilog_image = "a:1";
	assert_int_equal(marker_set(fake_argv[2] + 6, "n1", 42, ""), 0);
	marker_remove(fake_argv[2] + 6, "n1", 42, "");
	run_epilog();
	assert_int_equal(host.dlopens, 0);
}

static void test_epilog_without_core(void **state)
{
	(void)state;
	epilog(NULL);
	host.epilog_image = "a:1";
	run_epilog();
	assert_logged("left to the collector: cannot load the core");
}

static void test_epilog_knows_nothing(void **state)
{
	(void)state;
	epilog("ok");
	host.items_fail = true;
	run_epilog();
	assert_int_equal(host.dlopens, 0);
}

static void test_epilog_of_steps(void **state)
{
	const char *folder;

	(void)state;
	epilog("ok");
	folder = fake_argv[2] + 6;
	assert_int_equal(marker_set(folder, "n1", 42, "0.1"), 0);
	assert_int_equal(marker_set(folder, "n1", 42, "12.0"), 0);
	/* Of others, and of nobody. */
	assert_int_equal(marker_set(folder, "n1", 420, "3.0"), 0);
	assert_int_equal(marker_set(folder, "n2", 42, "4.0"), 0);
	fake_file("state/n1.42.x", "");
	fake_file("state/n1.42.5", "");
	fake_file("state/n1.42.5.", "");
	fake_file("state/n1.42.5.1x", "");
	core->reap_rc = 1;
	run_epilog();
	assert_non_null(strstr(core->fields, "step=0.1\n"));
	assert_non_null(strstr(core->fields, "step=12.0\n"));
	assert_null(strstr(core->fields, "batch="));
	assert_null(strstr(core->fields, "step=3"));
	assert_null(strstr(core->fields, "step=4"));
	assert_null(strstr(core->fields, "step=5"));
	assert_false(marker_is_set(folder, "n1", 42, "0.1"));
	assert_false(marker_is_set(folder, "n1", 42, "12.0"));
	assert_true(marker_is_set(folder, "n1", 420, "3.0"));
	assert_true(marker_is_set(folder, "n2", 42, "4.0"));
	assert_int_equal(core->calls[3], 1);
	run_epilog();
	assert_int_equal(core->calls[3], 1);
}

static void test_marker_names(void **state)
{
	(void)state;
	assert_int_equal(marker_set(fake_folder, NULL, 1, ""), EINVAL);
	assert_int_equal(marker_set(fake_folder, "../x", 1, ""), EINVAL);
	assert_false(marker_is_set("/nonexistent", "n1", 1, ""));
	marker_remove("/nonexistent", "n1", 1, "");
}

#define T(name) cmocka_unit_test_setup_teardown(name, fake_reset, fake_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_epilog_of_native_job),
		T(test_epilog_by_option),
		T(test_epilog_by_marker),
		T(test_epilog_of_clean_end),
		T(test_epilog_without_core),
		T(test_epilog_knows_nothing),
		T(test_epilog_of_steps),
		T(test_marker_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
