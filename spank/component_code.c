// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
/* component_options.h's text: "component=1;group=1;step=own;image=a:1;workdir=/w". Values have all but
 * letters, digits and a few signs as %XX, so that nothing in them means anything to --export. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "component_options.h"
#include "components.h"
#include "launch.h"
#include "options.h"
#include "say.h"

/* Not isalnum: the user's locale must not decide. */
static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("._/:@-", c));
}

static char *escape(const char *value)
{
	size_t room = 3 * strlen(value) + 1, at = 0;
	char *text = malloc(room);

	if (!text)
		return NULL;
	text[0] = '\0';
	for (; *value; value++)
		at += (size_t)snprintf(text + at, room - at, is_plain(*value) ? "%c" : "%%%02X", (unsigned char)*value);
	return text;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* In place. Returns 0, or -1 where `text` is not what escape writes. */
static int unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (is_plain(*text)) {
			*to++ = *text;
			continue;
		}
		if (*text != '%' || digit(text[1]) < 0 || digit(text[2]) < 0 || !(digit(text[1]) | digit(text[2])))
			return -1;
		*to++ = (char)(digit(text[1]) * 16 + digit(text[2]));
		text += 2;
	}
	*to = '\0';
	return 0;
}

char *component_encode(const struct component *component)
{
	const char *step = !component->is_checked ? "none" : component->is_overlap ? LAUNCH_OVERLAP : LAUNCH_OWN;
	char *text = say_text("component=%d;group=%d;step=%s", component->number, component->group, step);

	for (int i = 0; text && i < OPTION_COUNT; i++) {
		const char *plain = options_value(i);
		char *value, *longer;

		if (!plain)
			continue;
		value = escape(plain);
		longer = value ? say_text("%s;%s=%s", text, options_key(i), value) : NULL;
		free(value);
		free(text);
		text = longer;
	}
	return text;
}

/* Returns 0, or -1. */
static int read_number(const char *text, int *number)
{
	int count;

	*number = components_member(text, 0, &count);
	return count == 1 && *number >= 0 ? 0 : -1;
}

static int read_step(const char *word, struct component *component)
{
	component->is_overlap = !strcmp(word, LAUNCH_OVERLAP);
	component->is_checked = component->is_overlap || !strcmp(word, LAUNCH_OWN);
	return component->is_checked || !strcmp(word, "none") ? 0 : -1;
}

static int read_option(const char *key, const char *value)
{
	for (int i = 0; i < OPTION_COUNT; i++)
		if (!strcmp(key, options_key(i))) {
			options_take(i, value, SOURCE_COMMAND);
			return 0;
		}
	return -1;
}

static int read_field(char *field, struct component *component, bool *has_number)
{
	char *value = strchr(field, '=');

	if (!value)
		return -1;
	*value++ = '\0';
	if (unescape(value))
		return -1;
	if (!strcmp(field, "component")) {
		*has_number = true;
		return read_number(value, &component->number);
	}
	if (!strcmp(field, "group"))
		return read_number(value, &component->group);
	if (!strcmp(field, "step"))
		return read_step(value, component);
	return read_option(field, value);
}

int component_decode(const char *text, struct component *component)
{
	char *copy = strdup(text), *rest = copy, *field;
	bool has_number = false;
	int result = copy ? 0 : -1;

	memset(component, 0, sizeof(*component));
	/* What Slurm has told is any component's. */
	options_forget();
	while (!result && (field = strsep(&rest, ";")))
		result = read_field(field, component, &has_number);
	free(copy);
	if (!result && has_number) {
		component->is_one = true;
		return 0;
	}
	memset(component, 0, sizeof(*component));
	options_forget();
	return -1;
}
