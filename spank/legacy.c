// SPDX-License-Identifier: Apache-2.0
#include "legacy.h"

#include <stdlib.h>
#include <string.h>

static const char *const keys[LEGACY_COUNT] = {
	[LEGACY_IMAGE] = "K8S_IMAGE",
	[LEGACY_WORKDIR] = "K8S_WORKDIR",
	[LEGACY_SCRIPT] = "K8S_SCRIPT",
};

/* A stretch of the text, which has no NUL at its end. */
struct span {
	const char *at, *end;
};

/* Not isspace: the user's locale must not decide what root reads out of a file. */
static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static struct span trim(struct span span)
{
	while (span.at < span.end && is_space(*span.at))
		span.at++;
	while (span.at < span.end && is_space(span.end[-1]))
		span.end--;
	return span;
}

static struct span unquote(struct span span)
{
	if (span.end - span.at >= 2 && (*span.at == '"' || *span.at == '\'') && span.end[-1] == *span.at) {
		span.at++;
		span.end--;
	}
	return span;
}

/* `span` is what follows the '#'. */
static void take_comment(struct span span, struct legacy *legacy)
{
	span = trim(span);
	for (int i = 0; i < LEGACY_COUNT; i++) {
		size_t length = strlen(keys[i]);
		struct span rest = { span.at + length, span.end };

		if ((size_t)(span.end - span.at) < length || memcmp(span.at, keys[i], length))
			continue;
		rest = trim(rest);
		if (rest.at == rest.end || *rest.at != '=')
			continue;
		rest.at++;
		rest = unquote(trim(rest));
		free(legacy->value[i]);
		legacy->value[i] = strndup(rest.at, rest.end - rest.at);
	}
}

void legacy_parse(const char *text, size_t length, bool whole, struct legacy *legacy)
{
	const char *end = text + length;

	memset(legacy, 0, sizeof(*legacy));
	legacy->command = !whole;
	while (text < end) {
		const char *newline = memchr(text, '\n', end - text);
		struct span line = { text, newline ? newline : end };

		text = newline ? newline + 1 : end;
		/* A line that the head of the file cut is not to be trusted. */
		if (!newline && !whole)
			return;
		line = trim(line);
		if (line.at == line.end)
			continue;
		if (*line.at != '#') {
			legacy->command = true;
			return;
		}
		line.at++;
		take_comment(line, legacy);
	}
}

void legacy_free(struct legacy *legacy)
{
	for (int i = 0; i < LEGACY_COUNT; i++)
		free(legacy->value[i]);
	memset(legacy, 0, sizeof(*legacy));
}
