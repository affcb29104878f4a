// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
/* Which component of a heterogeneous job is meant: Slurm's lists of their numbers. */
#include "spank_host.h"

#include <stdlib.h>

#include "../../spank/components.h"

static void test_member(void **state)
{
	static const struct {
		const char *text;
		int index, member, count;
	} cases[] = {
		{ "0", 0, 0, 1 },	{ "127", 0, 127, 1 },	  { "1,0", 0, 0, 2 },	    { "[0-2,4]", 3, 4, 4 },
		{ "0-2,1", 3, -1, 3 },	{ "128", 0, -1, 0 },	  { "", 0, -1, 0 },	    { "[0", 0, -1, 0 },
		{ "0]", 0, -1, 0 },	{ "2-1", 0, -1, 0 },	  { "-1", 0, -1, 0 },	    { "1,", 0, -1, 0 },
		{ "0-127", 99, 99, 128 }, { " 1", 0, -1, 0 },	  { "1 ", 0, -1, 0 },	    { "99999999999999999999", 0, -1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int count = 77;

		assert_int_equal(components_member(cases[i].text, cases[i].index, &count), cases[i].member);
		assert_int_equal(count, cases[i].count);
	}
	srand(1);
	for (int round = 0; round < 100000; round++) {
		char text[12];
		int length = rand() % (int)sizeof(text), count = 77, member;

		for (int i = 0; i < length; i++)
			text[i] = "0123456789,-[]x\xff"[rand() % 16];
		text[length] = '\0';
		member = components_member(text, rand() % 3, &count);
		assert_in_range(count, 0, COMPONENTS_MAX);
		assert_true(member >= -1 && member < COMPONENTS_MAX && (member < 0 || count > 0));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_member),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
