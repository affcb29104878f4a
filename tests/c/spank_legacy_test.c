// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "spank_host.h"

#include <stdlib.h>
#include <string.h>

#include "../../spank/legacy.h"

static void reads(const char *text, const char *image, const char *workdir, const char *script, bool command)
{
	const char *want[LEGACY_COUNT] = { image, workdir, script };
	struct legacy legacy;

	legacy_parse(text, strlen(text), true, &legacy);
	for (int i = 0; i < LEGACY_COUNT; i++)
		if (want[i])
			assert_string_equal(legacy.value[i], want[i]);
		else
			assert_null(legacy.value[i]);
	assert_int_equal(legacy.command, command);
	legacy_free(&legacy);
}

static void test_forms(void **state)
{
	(void)state;
	reads("", NULL, NULL, NULL, false);
	reads("#!/bin/sh\n#K8S_IMAGE=a:1\necho\n", "a:1", NULL, NULL, true);
	reads("#!/bin/sh\n#K8S_IMAGE=a\n#K8S_WORKDIR=/w\n#K8S_SCRIPT=/s.sh\n", "a", "/w", "/s.sh", false);
	reads("#!/bin/sh\n  # K8S_IMAGE =  a:1  \r\n\n", "a:1", NULL, NULL, false);
	reads("#K8S_IMAGE=\"a b\"\n#K8S_WORKDIR='/w d'", "a b", "/w d", NULL, false);
	reads("#K8S_IMAGE=\"a\n", "\"a", NULL, NULL, false);
	reads("#K8S_IMAGE=\"\n", "\"", NULL, NULL, false);
	reads("#K8S_IMAGE=\n", "", NULL, NULL, false);
	reads("#K8S_IMAGE=''\n", "", NULL, NULL, false);
	reads("#K8S_IMAGE=a=b\n", "a=b", NULL, NULL, false);
}

static void test_what_is_none(void **state)
{
	(void)state;
	reads("echo\n#K8S_IMAGE=a\n", NULL, NULL, NULL, true);
	reads("#K8S_IMAGES=a\n#K8S_IMAGE\n#K8S_IMAGE a\n##K8S_IMAGE=a\n#xK8S_IMAGE=a\n#k8s_image=a\n", NULL, NULL, NULL,
	      false);
	reads("#SBATCH -n1\n\n \t\n#K8S_IMAGE=a\n", "a", NULL, NULL, false);
}

static void test_last_wins(void **state)
{
	(void)state;
	reads("#K8S_IMAGE=a\n#K8S_IMAGE=b\n", "b", NULL, NULL, false);
}

static void test_cut_head(void **state)
{
	const char text[] = "#K8S_IMAGE=a\n#K8S_WORKDIR=/cu";
	struct legacy legacy;

	(void)state;
	legacy_parse(text, strlen(text), false, &legacy);
	assert_string_equal(legacy.value[LEGACY_IMAGE], "a");
	assert_null(legacy.value[LEGACY_WORKDIR]);
	assert_true(legacy.command);
	legacy_free(&legacy);
}

static void test_nul_inside(void **state)
{
	const char text[] = "#K8S_IMAGE=a\0b\n#K8S_WORKDIR=/w\n";
	struct legacy legacy;

	(void)state;
	legacy_parse(text, sizeof(text) - 1, true, &legacy);
	assert_string_equal(legacy.value[LEGACY_IMAGE], "a");
	assert_string_equal(legacy.value[LEGACY_WORKDIR], "/w");
	legacy_free(&legacy);
}

static uint64_t seed = 0x9e3779b97f4a7c15u;

static uint32_t draw(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 16) % below;
}

/* Mutations of a good head, each in memory of its exact size so that ASan sees one byte too far. */
static void test_mutations(void **state)
{
	static const char good[] = "#!/bin/bash\n#SBATCH -n1\n # K8S_IMAGE = \"reg:5000/a:1\"\r\n#K8S_WORKDIR='/w'\n"
				   "\n#K8S_SCRIPT=/x\necho K8S_IMAGE=no\n";
	static const char pool[] = "#=\n\r\t '\"K8S_IMAGE\0\xff";

	(void)state;
	for (int round = 0; round < 200000; round++) {
		size_t from = draw(sizeof(good) / 2), length = draw((uint32_t)(sizeof(good) - from));
		char *text = malloc(length ? length : 1);
		struct legacy legacy;

		memcpy(text, good + from, length);
		for (uint32_t n = draw(6); n && length; n--)
			text[draw((uint32_t)length)] = pool[draw(sizeof(pool))];
		legacy_parse(text, length, draw(2), &legacy);
		for (int i = 0; i < LEGACY_COUNT; i++)
			if (legacy.value[i]) {
				assert_true(strlen(legacy.value[i]) <= length);
				assert_null(strchr(legacy.value[i], '\n'));
			}
		legacy_free(&legacy);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),	 cmocka_unit_test(test_what_is_none), cmocka_unit_test(test_last_wins),
		cmocka_unit_test(test_cut_head), cmocka_unit_test(test_nul_inside),   cmocka_unit_test(test_mutations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
