// SPDX-License-Identifier: Apache-2.0
#include "rules.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../include/frames.h"
#include "entries.h"

#define MOST 64
#define QUERIES " queries"

static const char *offered[MOST], *directories[MOST], *variables[MOST];
/* The core's word: one START. */
static struct k8s_buffer said = { .limit = K8S_FRAME_PAYLOAD };

static int keep(const char *list[MOST], const struct k8s_entry *entry)
{
	size_t count = 0;

	while (count < MOST && list[count])
		count++;
	if (count >= MOST - 1)
		return -1;
	list[count] = (const char *)entry->value;
	return 0;
}

static int take(const struct k8s_entry *entry)
{
	switch (entry->tag) {
	case K8S_RECORD_COMMAND:
		return keep(offered, entry);
	case K8S_RECORD_PATH:
		return keep(directories, entry);
	case K8S_RECORD_ENV:
		return keep(variables, entry);
	default:
		return 0;
	}
}

int rules_take(const unsigned char *records, size_t size)
{
	struct entries entries;
	int rc = 0;

	if (said.size || k8s_buffer_append(&said, records, size) || entries_read(&entries, &said))
		return -1;
	for (size_t i = 0; !rc && i < entries.count; i++)
		rc = take(&entries.all[i]);
	entries_clear(&entries);
	return rc;
}

const char *rules_variable(size_t number)
{
	return number < MOST ? variables[number] : NULL;
}

/* Returns the rule of a command: its name and what is behind it; NULL: it is not offered. */
static const char *rule_of(const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; offered[i]; i++)
		if (!strncmp(offered[i], name, length) && (!offered[i][length] || !strcmp(offered[i] + length, QUERIES)))
			return offered[i] + length;
	return NULL;
}

static bool is_one_of(const char *const *list, const char *word)
{
	for (int i = 0; list[i]; i++)
		if (!strcmp(word, list[i]))
			return true;
	return false;
}

/* Returns how many words the option at `word` is: 1 or 2; 0: it is none of scontrol's as they are
 * spelled here. One bundled or shortened might take the next word for its value, and what stands
 * behind that would be what scontrol does. */
static int option_words(char *const *word)
{
	static const char *const alone[] = { "-a", "--all", "-d", "--details", "-o", "--oneliner", "-Q", "--quiet", "-F",
					     "--future", "-v", "--verbose", "-h", "--help", "-V", "--version", "--hide",
					     "--local", "--federation", "--sibling", "--json", "--yaml", NULL };
	static const char *const with_value[] = { "-M", "--cluster", "--clusters", "-u", "--uid", NULL };

	if (is_one_of(alone, *word) || !strncmp(*word, "--clusters=", 11) || !strncmp(*word, "--uid=", 6))
		return 1;
	return is_one_of(with_value, *word) && word[1] ? 2 : 0;
}

/* scontrol: what only shows. Without a word it reads words from stdin. */
static bool only_asks(char *const *words)
{
	static const char *const verbs[] = { "sh", "sho", "show", "ping", "version", NULL };
	int length = 1;

	for (words++; *words && (*words)[0] == '-' && length; words += length)
		length = option_words(words);
	return length && *words && is_one_of(verbs, *words);
}

const char *rules_refuse(char *const *words)
{
	const char *rule = rule_of(words[0]);

	if (!rule)
		return "this site does not offer it in Pods (commands.allow in k8s.yaml)";
	if (*rule && !only_asks(words))
		return "this site offers queries alone in Pods (commands.allow in k8s.yaml): show, ping and version";
	return NULL;
}

int rules_find(const char *name, char *path, size_t capacity)
{
	for (size_t i = 0; directories[i]; i++) {
		int length = snprintf(path, capacity, "%s/%s", directories[i], name);

		if (length > 0 && (size_t)length < capacity && !access(path, X_OK))
			return 0;
	}
	return -1;
}
