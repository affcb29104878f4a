// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "spank_submitter.h"

#include <stdlib.h>
#include <sys/resource.h>

#include "../../spank/config.h"

static void refused(const char *kind, const char *why)
{
	begin(kind);
	script("#!/bin/sh\n");
	fake_option("k8s-image", "a:1", 0);
	assert_int_equal(submit(), -1);
	assert_logged(why);
}

static void test_no_core(void **state)
{
	(void)state;
	refused(NULL, "E k8s: cannot load the core:");
}

static void test_wrong_abi(void **state)
{
	(void)state;
	refused("abi", "speaks version 99, this plugin version 1");
}

static void test_core_with_hole(void **state)
{
	(void)state;
	refused("hole", "gocore.so has no k8s_core_reap");
}

static void test_faults_together(void **state)
{
	(void)state;
	begin("ok");
	script("#!/bin/sh\n");
	core->validate_rc = 1;
	core->text = "from the core";
	fake_set(host.tool, "container", "/bundle");
	fake_option("k8s-image", "a:1", 0);
	assert_int_equal(submit(), -1);
	assert_logged("exclude each other");
	assert_logged("from the core");
	/* A value that is not one is not asked about. */
	core->calls[0] = 0;
	fake_option("k8s-workdir", "-x", 0);
	assert_int_equal(submit(), -1);
	assert_logged("\"-x\" starts with");
	assert_int_equal(core->calls[0], 0);
}

static void test_root(void **state)
{
	(void)state;
	begin("ok");
	host.process_uid = 0;
	script("#!/bin/sh\n");
	fake_option("k8s-image", "a:1", 0);
	assert_int_equal(submit(), -1);
	assert_logged("root's jobs do not go to a Pod");
	assert_int_equal(host.dlopens, 0);
}

static void test_bad_plugstack(void **state)
{
	(void)state;
	begin("ok");
	script("#!/bin/sh\n");
	((struct config *)config_load(0, NULL))->fault = strdup("plugstack.conf: x");
	fake_option("k8s-image", "a:1", 0);
	assert_int_equal(submit(), -1);
	assert_logged("E k8s: plugstack.conf: x");
	assert_int_equal(host.dlopens, 0);
}

static void limited(int resource, rlim_t value, const char *why)
{
	fake_end(NULL);
	fake_reset(NULL);
	begin("ok");
	script("#!/bin/sh\n");
	fake_option("k8s-image", "a:1", 0);
	host.limit = resource;
	host.limit_value = value;
	host.threads_left = resource == RLIMIT_NPROC ? 5 : -1;
	assert_int_equal(submit(), 0);
	assert_logged(why);
	assert_int_equal(host.dlopens, why[0] ? 0 : 1);
	/* It is submitted all the same, as a job for a Pod. */
	assert_string_equal(getenv("_SLURM_SPANK_OPTION_k8s_k8s_image"), "a:1");
}

static void test_limits(void **state)
{
	(void)state;
	limited(RLIMIT_AS, 1 << 30, "I k8s: checks skipped: the limit on address space");
	limited(RLIMIT_AS, 2147483648u, "I k8s: checks skipped: the limit on address space");
	limited(RLIMIT_AS, (rlim_t)1 << 33, "");
	limited(RLIMIT_DATA, 1 << 20, "I k8s: checks skipped: the limit on data");
	limited(RLIMIT_NPROC, 100, "I k8s: checks skipped: the limit on processes");
}

static void test_open_files_as_before(void **state)
{
	struct rlimit before, lowered, after;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	lowered = before;
	lowered.rlim_cur = 200;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &lowered), 0);
	begin("ok");
	script("#!/bin/sh\n");
	fake_option("k8s-image", "a:1", 0);
	assert_int_equal(submit(), 0);
	assert_int_equal(host.dlopens, 1);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &after), 0);
	assert_int_equal(after.rlim_cur, 200);
	assert_int_equal(after.rlim_max, before.rlim_max);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static void test_enough_threads(void **state)
{
	(void)state;
	begin("ok");
	script("#!/bin/sh\n");
	fake_option("k8s-image", "a:1", 0);
	host.limit = RLIMIT_NPROC;
	host.limit_value = 100;
	assert_int_equal(submit(), 0);
	assert_int_equal(host.dlopens, 1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fake_reset, fake_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_no_core),
		T(test_wrong_abi),
		T(test_core_with_hole),
		T(test_faults_together),
		T(test_root),
		T(test_bad_plugstack),
		T(test_limits),
		T(test_enough_threads),
		T(test_open_files_as_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
