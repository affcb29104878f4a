// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "spank_host.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../spank/bounded.h"
#include "../../spank/host.h"
#include "../../spank/script.h"

static const char *fact(const char *row, const char *key)
{
	for (size_t length = strlen(key); *row; row += strlen(row) + 1)
		if (!strncmp(row, key, length) && row[length] == '=')
			return row + length + 1;
	return "(none)";
}

static void fill_job(void)
{
	static char *nodes[] = { "n1", "n2", NULL };
	static char *detail[] = { "gpu:1(IDX:0)", "gpu:2(IDX:0-1)" };

	host.hostlist = nodes;
	host.cpus_on_node = 6;
	host.job_info = (job_info_t){
		.job_id = 42, .user_id = 54321, .group_id = 9, .user_name = "ann", .account = "dev", .partition = "main",
		.qos = "normal", .name = "job=x", .restart_cnt = 2, .requeue = 1, .time_limit = 60, .nodes = "n[1-2]",
		.array_task_id = NO_VAL, .gres_detail_cnt = 2, .gres_detail_str = detail, .admin_comment = "{}",
		.job_state = JOB_CANCELLED | JOB_COMPLETING, .shared = JOB_SHARED_NONE,
		.job_resrcs = (job_resources_t *)&host, .num_nodes = 2, .pn_min_memory = MEM_PER_CPU | 100,
		.batch_host = "n1",
	};
}

static void test_facts(void **state)
{
	char row[4096];

	(void)state;
	fill_job();
	host_set_place("n2", 512);
	assert_int_equal(host_table()->job_facts(42, row, sizeof(row)), 0);
	assert_string_equal(fact(row, "user_id"), "54321");
	assert_string_equal(fact(row, "user_name"), "ann");
	assert_string_equal(fact(row, "home"), "(none)");
	assert_string_equal(fact(row, "name"), "job=x");
	assert_string_equal(fact(row, "restart_count"), "2");
	assert_string_equal(fact(row, "requeue"), "1");
	assert_string_equal(fact(row, "time_limit"), "60");
	assert_string_equal(fact(row, "exclusive"), "1");
	assert_string_equal(fact(row, "nodes"), "2");
	assert_string_equal(fact(row, "whole_memory"), "0");
	assert_string_equal(fact(row, "gres"), "gpu:2(IDX:0-1)");
	assert_string_equal(fact(row, "cpus"), "6");
	assert_string_equal(fact(row, "memory_mb"), "512");
	assert_string_equal(fact(row, "state"), "CANCELLED");
	assert_string_equal(fact(row, "completing"), "1");
	assert_string_equal(fact(row, "array_job_id"), "(none)");
	/* salloc's has a host, and no script. */
	assert_string_equal(fact(row, "batch_host"), "(none)");
	host.job_info.batch_flag = 1;
	assert_int_equal(host_table()->job_facts(42, row, sizeof(row)), 0);
	assert_string_equal(fact(row, "batch_host"), "n1");
}

static void test_facts_of_an_empty_job(void **state)
{
	char row[4096];

	(void)state;
	host.job_info = (job_info_t){ .job_id = 42, .time_limit = INFINITE, .array_job_id = 40, .array_task_id = 3,
				      .user_id = 54321, .shared = NO_VAL16, .job_state = JOB_RUNNING };
	host_set_place(NULL, 0);
	assert_int_equal(host_table()->job_facts(42, row, sizeof(row)), 0);
	assert_string_equal(fact(row, "time_limit"), "UNLIMITED");
	assert_string_equal(fact(row, "array_job_id"), "40");
	assert_string_equal(fact(row, "array_task_id"), "3");
	assert_string_equal(fact(row, "exclusive"), "0");
	assert_string_equal(fact(row, "state"), "RUNNING");
	assert_string_equal(fact(row, "account"), "(none)");
	assert_string_equal(fact(row, "whole_memory"), "1");
	assert_string_equal(fact(row, "gres"), "(none)");
}

/* Every capacity: too small is said, and nothing is written behind it. */
static void test_facts_too_small(void **state)
{
	int result = -1;

	(void)state;
	fill_job();
	host_set_place("n2", 512);
	for (size_t capacity = 0; capacity < 1000 && result; capacity++) {
		char *row = malloc(capacity ? capacity : 1);

		result = host_table()->job_facts(42, row, capacity);
		assert_true(result == -1 || result == 0);
		free(row);
	}
	assert_int_equal(result, 0);
}

static void test_facts_fail(void **state)
{
	char row[100];

	(void)state;
	host.load_rc = -1;
	host.fake_errno = 2017;
	assert_int_equal(host_table()->job_facts(42, row, sizeof(row)), 2017);
	host.fake_errno = 0;
	assert_int_equal(host_table()->job_facts(42, row, sizeof(row)), EIO);
	host.load_rc = 0;
	host.job_info.job_id = 41;
	assert_int_equal(host_table()->job_facts(42, row, sizeof(row)), ESLURM_INVALID_JOB_ID);
}

static void test_requeue(void **state)
{
	(void)state;
	assert_int_equal(host_table()->requeue(42), 0);
	assert_int_equal(host.requeued, 42);
	host.requeue_rc = 2037;
	assert_int_equal(host_table()->requeue(42), 2037);
}

static void test_update(void **state)
{
	const char *good[] = { "begin_time=1700000000", "admin_comment={\"a\":\"b=c\"}", "requeue=1", NULL };
	const char *bad[] = { "begin_time=soon", "begin_time=-1", "begin_time=", "requeue=2", "priority=1", "rubbish" };

	(void)state;
	assert_int_equal(host_table()->update(42, good), 0);
	assert_int_equal(host.updated.job_id, 42);
	assert_int_equal(host.updated.begin_time, 1700000000);
	assert_int_equal(host.updated.requeue, 1);
	assert_string_equal(host.updated_comment, "{\"a\":\"b=c\"}");
	memset(&host.updated, 0, sizeof(host.updated));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *fields[] = { bad[i], NULL };

		assert_int_equal(host_table()->update(42, fields), EINVAL);
	}
	assert_int_equal(host.updated.job_id, 0);
	host.update_rc = -1;
	host.fake_errno = 2073;
	assert_int_equal(host_table()->update(42, good), 2073);
}

static void test_complete(void **state)
{
	(void)state;
	assert_int_equal(host_table()->complete_out_of_memory(42), 0);
	assert_int_equal(host.completed, 42);
	assert_int_equal(host.completed_code, 253);
}

static void test_end_step(void **state)
{
	(void)state;
	assert_int_equal(host_table()->end_step(42, 3), 0);
	assert_int_equal(host.ended_job, 42);
	assert_int_equal(host.ended_step, 3);
	assert_int_equal(host.end_signal, SIGKILL);
	host.end_rc = -1;
	host.fake_errno = ESLURM_ALREADY_DONE;
	assert_int_equal(host_table()->end_step(42, 3), ESLURM_ALREADY_DONE);
}

static void fill_step(void)
{
	host.step_info = (job_step_info_t){ .step_id = { .job_id = 42, .step_id = 3 },
					    .tres_alloc_str = "cpu=4,mem=400M,node=2,gres/gpu=2" };
}

static void test_step_facts(void **state)
{
	char row[4096];

	(void)state;
	fill_step();
	assert_int_equal(host_table()->step_facts(42, 3, row, sizeof(row)), 0);
	assert_int_equal(host.asked_step, 3);
	assert_string_equal(fact(row, "tres"), "cpu=4,mem=400M,node=2,gres/gpu=2");
	assert_string_equal(fact(row, "overlap"), "(none)");
	host_set_step(&(struct host_step){ .job = 42, .id = 3, .overlap = true, .component = -1 });
	assert_int_equal(host_table()->step_facts(42, 3, row, sizeof(row)), 0);
	assert_string_equal(fact(row, "overlap"), "1");
	host_set_step(&(struct host_step){ .job = 42, .id = 3, .component = 1 });
	host.step_info.step_id.step_het_comp = 0;
	assert_int_not_equal(host_table()->step_facts(42, 3, row, sizeof(row)), 0);
	host.step_info.step_id.step_het_comp = 1;
	assert_int_equal(host_table()->step_facts(42, 3, row, sizeof(row)), 0);
	host.step_info.step_id.step_het_comp = NO_VAL; /* of a heterogeneous job */
	assert_int_equal(host_table()->step_facts(42, 3, row, sizeof(row)), 0);
	host_set_step(&(struct host_step){ .job = 42, .id = 3, .component = -1 });
	assert_int_equal(host_table()->step_facts(42, 3, row, sizeof(row)), 0);
	assert_string_equal(fact(row, "overlap"), "0");
	/* Too small is said, and nothing is written behind it. */
	for (size_t capacity = 0, result = -1; result; capacity++) {
		char *exact = malloc(capacity ? capacity : 1);

		result = host_table()->step_facts(42, 3, exact, capacity);
		assert_true(capacity < 100);
		free(exact);
	}
}

static void test_step_facts_fail(void **state)
{
	char row[100];

	(void)state;
	fill_step();
	host.step_info.step_id.step_id = 4;
	assert_int_equal(host_table()->step_facts(42, 3, row, sizeof(row)), ESLURM_INVALID_JOB_ID);
	host.steps_rc = -1;
	host.fake_errno = 2017;
	assert_int_equal(host_table()->step_facts(42, 3, row, sizeof(row)), 2017);
}

static void test_log(void **state)
{
	(void)state;
	host_table()->log(K8S_LOG_ERROR, "100%s");
	host_table()->log(K8S_LOG_INFO, "b");
	host_table()->log(K8S_LOG_DEBUG, "c");
	assert_string_equal(host.log, "E k8s: 100%s\nI k8s: b\nD k8s: c\n");
}

static void test_script_find(void **state)
{
	char path[200], sub[128], want[200], *found;

	(void)state;
	snprintf(sub, sizeof(sub), "%s/sub", fake_folder);
	mkdir(sub, 0755);
	fake_file("sub/job.sh", "");
	snprintf(path, sizeof(path), ":/nonexistent:%s", sub);
	snprintf(want, sizeof(want), "%s/job.sh", sub);
	found = script_find("job.sh", fake_folder, path);
	assert_string_equal(found, want);
	free(found);
	fake_file("job.sh", "");
	snprintf(want, sizeof(want), "%s/job.sh", fake_folder);
	found = script_find("job.sh", fake_folder, path);
	assert_string_equal(found, want);
	free(found);
	found = script_find("/abs/x", fake_folder, path);
	assert_string_equal(found, "/abs/x");
	free(found);
	assert_non_null(getcwd(sub, sizeof(sub)));
	snprintf(want, sizeof(want), "%s/./x", sub);
	found = script_find("./x", fake_folder, path);
	assert_string_equal(found, want);
	free(found);
}

static void test_script_size(void **state)
{
	struct script script;
	char *text = malloc(SCRIPT_HEAD + 2);
	char *path;

	(void)state;
	memset(text, 'a', SCRIPT_HEAD + 1);
	text[SCRIPT_HEAD + 1] = '\0';
	path = fake_file("large", text);
	assert_int_equal(script_read(path, true, &script), 0);
	assert_int_equal(script.length, SCRIPT_HEAD);
	assert_false(script.whole);
	script_free(&script);
	text[SCRIPT_HEAD] = '\0';
	path = fake_file("large", text);
	assert_int_equal(script_read(path, true, &script), 0);
	assert_int_equal(script.length, SCRIPT_HEAD);
	assert_true(script.whole);
	script_free(&script);
	assert_int_equal(script_read("/dev/null", false, &script), ESPIPE);
	assert_int_equal(script_read("/nonexistent", false, &script), ENOENT);
	free(text);
}

static int slow(void *argument)
{
	usleep(*(useconds_t *)argument);
	return 5;
}

static void test_bounded(void **state)
{
	static useconds_t short_time = 1000, long_time = 1300000;
	int result = 0;

	(void)state;
	assert_int_equal(bounded_call(slow, &short_time, 5, &result), 0);
	assert_int_equal(result, 5);
	assert_int_equal(bounded_call(slow, &long_time, 1, &result), ETIMEDOUT);
	/* Its thread frees what is left; not leaking is what ASan checks. */
	usleep(600000);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fake_reset, fake_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_facts),
		T(test_facts_of_an_empty_job),
		T(test_facts_too_small),
		T(test_facts_fail),
		T(test_requeue),
		T(test_update),
		T(test_complete),
		T(test_end_step),
		T(test_step_facts),
		T(test_step_facts_fail),
		T(test_log),
		T(test_script_find),
		T(test_script_size),
		T(test_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
