// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
/* A component of a heterogeneous step in its slurmstepd, and the text by which srun describes it. */
#include "spank_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../spank/component_options.h"
#include "../../spank/components.h"
#include "../../spank/options.h"
#include "../../spank/step.h"

#define VARIABLE "SLURM_K8S_COMPONENT"

static struct fake_core *core;

/* Slurm's table has the last component's option, for all of them. */
static void begin(const char *component)
{
	host.context = S_CTX_REMOTE;
	core = fake_core_ok();
	fake_install("ok");
	host.argv[0] = "hostname";
	host.step = 3;
	host.node = 1;
	host.nodes = 2;
	assert_int_equal(slurm_spank_init(SP, fake_argc, fake_argv), 0);
	fake_option("k8s-image", "last:1", 1);
	fake_option("k8s-workdir", "/last", 1);
	fake_set(host.env, "SLURM_K8S_IMAGE", "all:1");
	fake_set(host.env, VARIABLE, component);
	assert_int_equal(slurm_spank_init_post_opt(SP, fake_argc, fake_argv), 0);
}

static void test_in_a_pod(void **state)
{
	static const char *const fields[] = { "option.image=b:1\n", "component=2\n", "step_id=3\n", "node_id=1\n" };
	char path[128];

	(void)state;
	begin("component=2;group=5;step=overlap;image=b:1");
	assert_null(fake_env(VARIABLE));
	assert_int_equal(slurm_spank_task_post_fork(SP, fake_argc, fake_argv), 0);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (!strstr(core->fields, fields[i]))
			fail_msg("no %s in %s", fields[i], core->fields);
	assert_null(strstr(core->fields, "option.workdir"));
	snprintf(path, sizeof(path), "%s/state/n1.42.3.1.2", fake_folder);
	assert_int_equal(access(path, F_OK), 0);
	assert_string_equal(step_here()->name, "42.3+2");
	assert_true(step_here()->is_checked && step_here()->is_overlap);
	for (size_t i = 0; i < core->relay_count; i++)
		close(core->relays[i]);
	assert_int_equal(slurm_spank_exit(SP, fake_argc, fake_argv), 0);
}

static void test_on_the_host(void **state)
{
	(void)state;
	begin("component=0;group=0;step=none");
	assert_int_equal(slurm_spank_task_post_fork(SP, fake_argc, fake_argv), 0);
	assert_int_equal(slurm_spank_task_init(SP, fake_argc, fake_argv), 0);
	assert_null(fake_env(VARIABLE));
	assert_null(fake_env("SLURM_K8S_RELAY_FD"));
	assert_int_equal(host.dlopens, 0);
	assert_string_equal(host.log, "");
}

/* It may have asked for a Pod: not on the host. */
static void test_not_readable(void **state)
{
	(void)state;
	begin("component=0;step=own;picture=b:1");
	assert_int_equal(slurm_spank_task_post_fork(SP, fake_argc, fake_argv), 0);
	assert_int_equal(slurm_spank_task_init(SP, fake_argc, fake_argv), -1);
	assert_logged("what srun says of this component of the step cannot be read");
	assert_int_equal(host.dlopens, 0);
}

/* srun checked no Pod, so there is none. */
static void test_not_checked(void **state)
{
	(void)state;
	begin("component=0;group=0;step=none;image=b:1");
	assert_int_equal(slurm_spank_task_post_fork(SP, fake_argc, fake_argv), 0);
	assert_int_equal(slurm_spank_task_init(SP, fake_argc, fake_argv), -1);
	assert_logged("has not checked --k8s-image");
}

/* The variable means nothing to a batch script. */
static void test_batch(void **state)
{
	(void)state;
	host.step = SLURM_BATCH_SCRIPT;
	host.context = S_CTX_REMOTE;
	core = fake_core_ok();
	fake_install("ok");
	host.argv[0] = fake_file("slurm_script", "#!/bin/sh\necho\n");
	assert_int_equal(slurm_spank_init(SP, fake_argc, fake_argv), 0);
	fake_option("k8s-image", "a:1", 1);
	fake_set(host.env, VARIABLE, "component=0;group=0;step=none");
	assert_int_equal(slurm_spank_init_post_opt(SP, fake_argc, fake_argv), 0);
	assert_true(step_here()->is_ours);
	assert_string_equal(options_value(OPTION_IMAGE), "a:1");
}

static void test_text(void **state)
{
	static const char *const bad[] = {
		"", ";", "component", "component=", "component=-1", "component=128", "component=0,1", "group=0",
		"component=0;step=maybe", "component=0;image=a%2", "component=0;image=a%2c", "component=0;image=%00",
		"component=0;image=a b", "component=0;image=\"a\"", "component=0;x=1", "component=0;",
	};
	const struct component one = { .number = 3, .group = 4, .is_checked = true };
	struct component back;
	char *text;

	(void)state;
	options_take(OPTION_IMAGE, "h:5000/a/b@sha256:0", SOURCE_COMMAND);
	options_take(OPTION_WORKDIR, "/a \"b\",'c';%\xc3\xa4=\n", SOURCE_COMMAND);
	text = component_encode(&one);
	assert_string_equal(text, "component=3;group=4;step=own;image=h:5000/a/b@sha256:0;workdir=/a%20%22b%22%2C%27c%27"
				  "%3B%25%C3%A4%3D%0A");
	options_forget();
	assert_int_equal(component_decode(text, &back), 0);
	assert_string_equal(options_value(OPTION_IMAGE), "h:5000/a/b@sha256:0");
	assert_string_equal(options_value(OPTION_WORKDIR), "/a \"b\",'c';%\xc3\xa4=\n");
	assert_true(back.is_one && back.is_checked && !back.is_overlap && back.number == 3 && back.group == 4);
	free(text);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(component_decode(bad[i], &back), -1);
		assert_false(back.is_one);
		assert_null(options_value(OPTION_IMAGE));
	}
}

/* Anything at all: no fault of memory, and what is taken is written again as it was read. */
static void test_any_text(void **state)
{
	static const char *const parts[] = { "component=", "group=", "step=own", "image=", "workdir=", ";", "=", "%", "%41",
					     "%0", "1", "127", "/w", "a:1", "\xff", "step=none", "scope=steps", "," };
	int taken = 0;

	(void)state;
	srand(2);
	for (int round = 0; round < 200000; round++) {
		struct component component, again;
		char text[256] = "", *once, *twice;

		if (rand() % 2)
			strcpy(text, "component=1;");
		for (int i = rand() % 12; i > 0; i--)
			strcat(text, parts[rand() % (sizeof(parts) / sizeof(parts[0]))]);
		if (component_decode(text, &component))
			continue;
		taken++;
		assert_in_range(component.number, 0, COMPONENTS_MAX - 1);
		once = component_encode(&component);
		assert_int_equal(component_decode(once, &again), 0);
		twice = component_encode(&again);
		assert_string_equal(once, twice);
		free(once);
		free(twice);
	}
	assert_in_range(taken, 1000, 200000);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fake_reset, fake_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_in_a_pod), T(test_on_the_host), T(test_not_readable), T(test_not_checked),
		T(test_batch),	  T(test_text),	       T(test_any_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
