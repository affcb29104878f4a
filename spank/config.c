// SPDX-License-Identifier: Apache-2.0
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "say.h"

#define LEGACY_KEY "legacy_comments:"

static struct config loaded;
static bool is_loaded;

static const struct {
	const char *prefix;
	const char **place;
	const char *standard;
} keys[] = {
	{ "config=", &loaded.site, "/etc/slurm/k8s.yaml" },
	{ "libexec=", &loaded.libexec, "/usr/libexec/slurm-k8s" },
	{ "state=", &loaded.state, "/run/slurm-k8s" },
};

#define KEYS (sizeof(keys) / sizeof(keys[0]))

static void take(const char *word)
{
	for (size_t i = 0; i < KEYS; i++) {
		size_t length = strlen(keys[i].prefix);

		if (strncmp(word, keys[i].prefix, length))
			continue;
		if (word[length] == '/')
			*keys[i].place = word + length;
		else
			say_append(&loaded.fault, "plugstack.conf: %s: not an absolute path", word);
		return;
	}
	say_append(&loaded.fault, "plugstack.conf: %s: unknown argument (known: config=, libexec=, state=)", word);
}

const struct config *config_load(int count, char **words)
{
	if (is_loaded)
		return &loaded;
	for (size_t i = 0; i < KEYS; i++)
		*keys[i].place = keys[i].standard;
	for (int i = 0; i < count; i++)
		take(words[i]);
	is_loaded = true;
	return &loaded;
}

void config_forget(void)
{
	say_free(&loaded.fault);
	is_loaded = false;
}

/* YAML's words for true that the strict reader takes, a comment after them allowed. */
static bool is_true(const char *value)
{
	static const char *const words[] = { "yes", "true", "on" };
	size_t length;

	value += strspn(value, " \t");
	length = strcspn(value, " \t\r\n");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (length == strlen(words[i]) && !strncasecmp(value, words[i], length)) {
			value += length;
			value += strspn(value, " \t\r\n");
			return !*value || *value == '#';
		}
	return false;
}

bool config_legacy_comments(const char *site)
{
	FILE *file = fopen(site, "re");
	char *line = NULL;
	size_t capacity = 0;
	bool wanted = false;

	if (!file)
		return false;
	while (getline(&line, &capacity, file) >= 0)
		if (!strncmp(line, LEGACY_KEY, strlen(LEGACY_KEY)))
			wanted = is_true(line + strlen(LEGACY_KEY));
	free(line);
	fclose(file);
	return wanted;
}
