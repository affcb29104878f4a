// SPDX-License-Identifier: Apache-2.0
/* What the plugin reads as root of what users wrote: a component's options in the step's environment,
 * comment lines of a job file; lists of components. The first byte chooses. */
#define _GNU_SOURCE
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../spank/component_options.h"
#include "../../spank/components.h"
#include "../../spank/legacy.h"
#include "../../spank/options.h"

/* Twice there and back is once. */
static void component(const char *text)
{
	struct component first, second;
	char *once, *twice;

	if (component_decode(text, &first)) {
		FUZZ_CHECK(!first.is_one && !options_value(0));
		return;
	}
	FUZZ_CHECK(first.is_one && first.number >= 0 && first.group >= 0);
	once = component_encode(&first);
	FUZZ_CHECK(!component_decode(once, &second) && !memcmp(&first, &second, sizeof(first)));
	twice = component_encode(&second);
	FUZZ_CHECK(!strcmp(once, twice));
	free(once);
	free(twice);
	options_forget();
}

static void job_file(const unsigned char *data, size_t size)
{
	for (int whole = 0; whole < 2; whole++) {
		struct legacy legacy;

		legacy_parse((const char *)data, size, whole, &legacy);
		for (int i = 0; i < LEGACY_COUNT; i++)
			FUZZ_CHECK(!legacy.value[i] || (strlen(legacy.value[i]) < size && !strchr(legacy.value[i], '\n')));
		legacy_free(&legacy);
	}
}

static void members(const char *text)
{
	int count, last = -1;

	components_member(text, 0, &count);
	FUZZ_CHECK(count >= 0 && count <= COMPONENTS_MAX);
	for (int i = 0; i < count; i++) {
		int same, member = components_member(text, i, &same);

		FUZZ_CHECK(same == count && member > last);
		last = member;
	}
	FUZZ_CHECK(components_member(text, count, &count) == -1);
}

void fuzz_one(const unsigned char *data, size_t size)
{
	char *text;

	if (!size)
		return;
	text = strndup((const char *)data + 1, size - 1);
	switch (data[0] % 3) {
	case 0:
		component(text);
		break;
	case 1: {
		unsigned char *exact = malloc(size - 1 ? size - 1 : 1);

		memcpy(exact, data + 1, size - 1);
		job_file(exact, size - 1);
		free(exact);
		break;
	}
	default:
		members(text);
	}
	free(text);
}

static void add(const char *text)
{
	fuzz_add(text, strlen(text));
}

void fuzz_seeds(void)
{
	add("0component=1;group=1;step=own;image=a:1;workdir=/w%20x");
	add("0component=0;group=2;step=overlap;image=registry.example/a@sha256:00;mount=data:/data%2Cro;node-selector=gpu%3Da100");
	add("0component=0;step=none");
	add("1#!/bin/sh\n#K8S_IMAGE=\"a:1\"\n# K8S_WORKDIR = '/w'\n#K8S_SCRIPT=/s.sh\necho\n");
	add("2[0,2-4]");
	add("20-127");
}
