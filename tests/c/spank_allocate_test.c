// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
/* A salloc that was called in a Pod begins again with the relay in the place of its COMMAND. */
#include "spank_host.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../spank/arguments.h"

static char *words[12];

static void begin(spank_context_t context, const char *line)
{
	static char text[256];
	int count = 0;

	snprintf(text, sizeof(text), "%s", line);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		words[count++] = word;
	words[count] = NULL;
	host.context = context;
	host.is_sbatch = false;
	host.process_uid = 1234;
	fake_core_ok();
	fake_install("ok");
	arguments_set(count, words);
	assert_int_equal(slurm_spank_init(SP, fake_argc, fake_argv), 0);
}

/* As salloc's parser leaves it: the first word of COMMAND, or the end. */
static int parsed(int at)
{
	optind = at;
	return slurm_spank_init_post_opt(SP, fake_argc, fake_argv);
}

static void executed(const char *line)
{
	char want[1024];

	snprintf(want, sizeof(want), "/proc/self/exe\n%s\n", program_invocation_name);
	for (const char *at = line; *at; at++) {
		size_t length = strlen(want);

		if (*at == '@')
			snprintf(want + length, sizeof(want) - length, "%s/libexec/relay", fake_folder);
		else
			snprintf(want + length, sizeof(want) - length, "%c", *at == ' ' ? '\n' : *at);
	}
	assert_string_equal(host.executed, want);
}

static void test_not_in_a_pod(void **state)
{
	(void)state;
	begin(S_CTX_ALLOCATOR, "salloc -n1 hostname");
	assert_int_equal(parsed(2), 0);
	assert_string_equal(host.executed, "");
}

static void test_command(void **state)
{
	(void)state;
	setenv("SLURM_K8S_ALLOCATE_FD", "3", 1);
	begin(S_CTX_ALLOCATOR, "salloc -n 1 echo -n 1");
	assert_int_equal(parsed(3), -1);
	executed("-n 1 @ --allocated echo -n 1 SLURM_K8S_ALLOCATED_FD=3 ");
	assert_logged("salloc: its command cannot be run in the Pod: Exec format error");
}

static void test_shell(void **state)
{
	(void)state;
	setenv("SLURM_K8S_ALLOCATE_FD", "3", 1);
	begin(S_CTX_ALLOCATOR, "salloc -n 1");
	assert_int_equal(parsed(3), -1);
	executed("-n 1 @ --allocated SLURM_K8S_ALLOCATED_FD=3 ");
}

static void test_after_dashes(void **state)
{
	(void)state;
	setenv("SLURM_K8S_ALLOCATE_FD", "3", 1);
	begin(S_CTX_ALLOCATOR, "salloc -- hostname");
	assert_int_equal(parsed(2), -1);
	executed("-- @ --allocated hostname SLURM_K8S_ALLOCATED_FD=3 ");
}

/* The options of the second component are behind the colon, and the parser counts from there. */
static void test_components(void **state)
{
	(void)state;
	setenv("SLURM_K8S_ALLOCATE_FD", "3", 1);
	begin(S_CTX_ALLOCATOR, "salloc -n1 : -n2 sh -c :");
	assert_int_equal(parsed(2), 0);
	assert_string_equal(host.executed, "");
	assert_int_equal(parsed(2), -1);
	executed("-n1 : -n2 @ --allocated sh -c : SLURM_K8S_ALLOCATED_FD=3 ");
}

/* What the parser and the plugin do to the environment and the directory is done again. */
static void test_as_it_was(void **state)
{
	char here[PATH_MAX], there[PATH_MAX];

	(void)state;
	assert_non_null(getcwd(here, sizeof(here)));
	setenv("SLURM_K8S_ALLOCATE_FD", "3", 1);
	setenv("SLURM_K8S_INSIDE_IMAGE", "pod:1", 1);
	begin(S_CTX_ALLOCATOR, "salloc -D /tmp hostname");
	fake_set(host.tool, "chdir", "sub");
	setenv("SLURM_NTASKS_PER_CORE", "1", 1);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(parsed(3), -1);
	assert_non_null(strstr(host.executed, "SLURM_K8S_INSIDE_IMAGE=pod:1\n"));
	assert_non_null(strstr(host.executed, "SLURM_K8S_ALLOCATED_DIRECTORY=sub\n"));
	assert_null(strstr(host.executed, "SLURM_NTASKS_PER_CORE"));
	assert_null(strstr(host.executed, "SLURM_K8S_ALLOCATE_FD"));
	assert_non_null(getcwd(there, sizeof(there)));
	assert_string_equal(here, there);
}

static void test_no_shell(void **state)
{
	(void)state;
	setenv("SLURM_K8S_ALLOCATE_FD", "3", 1);
	begin(S_CTX_ALLOCATOR, "salloc --no-shell");
	fake_set(host.tool, "no-shell", "set");
	assert_int_equal(parsed(2), 0);
	assert_string_equal(host.executed, "");
}

static void test_words_unknown(void **state)
{
	(void)state;
	setenv("SLURM_K8S_ALLOCATE_FD", "3", 1);
	begin(S_CTX_ALLOCATOR, "salloc hostname");
	arguments_set(0, NULL);
	assert_int_equal(parsed(1), -1);
	assert_string_equal(host.executed, "");
	assert_logged("salloc: its command would run on the Slurm node and not in the Pod: give --no-shell");
}

static void test_srun(void **state)
{
	(void)state;
	setenv("SLURM_K8S_ALLOCATE_FD", "3", 1);
	begin(S_CTX_LOCAL, "srun hostname");
	assert_int_equal(parsed(1), 0);
	assert_string_equal(host.executed, "");
}

static int teardown(void **state)
{
	unsetenv("SLURM_K8S_ALLOCATE_FD");
	unsetenv("SLURM_K8S_INSIDE_IMAGE");
	unsetenv("SLURM_NTASKS_PER_CORE");
	return fake_end(state);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fake_reset, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_not_in_a_pod), T(test_command), T(test_shell), T(test_after_dashes), T(test_components),
		T(test_as_it_was), T(test_no_shell), T(test_words_unknown), T(test_srun),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
