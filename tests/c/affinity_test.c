// SPDX-License-Identifier: Apache-2.0
/* Which cpus of its container a task is bound to. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "../../podinit/affinity.h"

#define BITS (8 * K8S_CPUS_BYTES)

/* "0 2 70": cpus. */
static void set_bits(const char *words, unsigned char *bitmap)
{
	char *end;

	for (long cpu = strtol(words, &end, 10); end != words; cpu = strtol(words, &end, 10)) {
		bitmap[cpu / 8] |= (unsigned char)(1 << cpu % 8);
		words = end;
	}
}

static union affinity set_of(const char *words)
{
	unsigned char bitmap[K8S_CPUS_BYTES] = { 0 };
	union affinity set = { 0 };

	set_bits(words, bitmap);
	for (size_t cpu = 0; cpu < BITS; cpu++)
		if (bitmap[cpu / 8] >> cpu % 8 & 1)
			CPU_SET_S(cpu, sizeof(set), &set.set);
	return set;
}

static const struct row {
	const char *task, *step, *container, *want; /* want NULL: not bound */
} rows[] = {
	{ "0", "0 1", "0 1", "0" },
	{ "1", "0 1", "0 1", "1" },
	{ "1", "0 1", "6 40", "40" },
	{ "0 1", "0 1 2 3", "8 9 10 11", "8 9" },
	{ "1 3", "0 1 2 3", "8 9 72 73", "9 73" },
	/* Fewer than the step has. */
	{ "2", "0 1 2 3", "4 5", "4" },
	{ "3", "0 1 2 3", "4 5", "5" },
	{ "0 1 2", "0 1 2 3", "4 5", "4 5" },
	{ "7", "0 1 2 3 4 5 6 7", "3", "3" },
	/* Places beyond the number of cpus that the Pod asks for. */
	{ "5", "0 1", "2 3", "3" },
	/* More than the Pod asks for: not its own. */
	{ "0", "0 1", "0 1 2", NULL },
	{ "0", "", "0", NULL },
	/* Nothing to go by. */
	{ "", "0 1", "0 1", NULL },
	{ "0", "0 1", "", NULL },
	{ "8191", "8191 8190", "8190 8191", "8191" },
};

static void test_choose(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		static unsigned char value[2 * K8S_CPUS_BYTES];
		union affinity container = set_of(rows[i].container), chosen, want;
		bool bound;

		memset(value, 0, sizeof(value));
		set_bits(rows[i].task, value);
		set_bits(rows[i].step, value + K8S_CPUS_BYTES);
		bound = affinity_choose(value, sizeof(value), &container, &chosen);
		if (bound != !!rows[i].want)
			fail_msg("row %zu: bound is %d", i, bound);
		if (!bound)
			continue;
		want = set_of(rows[i].want);
		if (!CPU_EQUAL_S(sizeof(want), &want.set, &chosen.set))
			fail_msg("row %zu: not the cpus %s", i, rows[i].want);
	}
}

static void test_sizes(void **state)
{
	static unsigned char value[2 * K8S_CPUS_BYTES + 2];
	union affinity container = set_of("0 1"), chosen;

	(void)state;
	memset(value, 0xff, sizeof(value));
	assert_false(affinity_choose(value, 0, &container, &chosen));
	assert_false(affinity_choose(value, 3, &container, &chosen));
	assert_false(affinity_choose(value, sizeof(value), &container, &chosen));
	assert_true(affinity_choose(value, 2, &container, &chosen));
	assert_true(CPU_EQUAL_S(sizeof(chosen), &container.set, &chosen.set));
}

/* Any bytes at all: never a cpu that the container has not. */
static void test_random(void **state)
{
	static unsigned char value[2 * K8S_CPUS_BYTES];
	union affinity container = set_of("3 17 900 901"), chosen, both;

	(void)state;
	srand(7);
	for (int round = 0; round < 500; round++) {
		uint32_t length = (uint32_t)rand() % (sizeof(value) + 1);

		for (uint32_t i = 0; i < length; i++)
			value[i] = (unsigned char)rand();
		if (!affinity_choose(value, length, &container, &chosen))
			continue;
		CPU_AND_S(sizeof(both), &both.set, &chosen.set, &container.set);
		assert_true(CPU_EQUAL_S(sizeof(both), &both.set, &chosen.set));
		assert_true(CPU_COUNT_S(sizeof(chosen), &chosen.set) > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choose),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
