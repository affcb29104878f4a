// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "frames_vectors.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what)
{
	fprintf(stderr, "vectors: %s\n", what);
	exit(1);
}

static void split(struct vector *vector)
{
	char *rest = vector->line, *word;

	while ((word = strsep(&rest, " \n")))
		if (*word && vector->count < VECTOR_WORDS)
			vector->words[vector->count++] = word;
}

struct vector *vectors_read(const char *path, size_t *count)
{
	FILE *file = fopen(path, "r");
	struct vector *vectors = NULL;
	char *line = NULL;
	size_t capacity = 0;

	if (!file)
		fail(path);
	*count = 0;
	while (getline(&line, &capacity, file) > 0) {
		if (*line == '#' || *line == '\n')
			continue;
		vectors = realloc(vectors, (*count + 1) * sizeof(*vectors));
		vectors[*count] = (struct vector){ .line = strdup(line) };
		split(&vectors[(*count)++]);
	}
	free(line);
	fclose(file);
	if (!*count)
		fail("none");
	return vectors;
}

static unsigned nibble(char digit)
{
	const char *digits = "0123456789abcdef";
	const char *found = strchr(digits, digit);

	if (!digit || !found)
		fail("not a hex digit");
	return (unsigned)(found - digits);
}

static void append(struct blob *blob, const char *hex, size_t digits, size_t times)
{
	blob->bytes = realloc(blob->bytes, blob->size + digits / 2 * times);
	for (; times; times--)
		for (size_t i = 0; i + 1 < digits; i += 2)
			blob->bytes[blob->size++] = (unsigned char)(nibble(hex[i]) << 4 | nibble(hex[i + 1]));
}

struct blob blob_of(const char *word)
{
	struct blob blob = { 0 };

	while (strcmp(word, "-") && *word) {
		size_t digits = strspn(word, "0123456789abcdef");
		char *end = (char *)word + digits;
		size_t times = *end == '*' ? strtoul(end + 1, &end, 10) : 1;

		if (!digits || digits % 2)
			fail(word);
		append(&blob, word, digits, times);
		word = *end == '+' ? end + 1 : end;
	}
	return blob;
}

void blob_free(struct blob *blob)
{
	free(blob->bytes);
	*blob = (struct blob){ 0 };
}
