// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "call_words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/bytes.h"
#include "../include/commands.h"
#include "entries.h"

static const char *const senseless = "the call makes no sense";
static const char *const no_memory = "the Slurm node has no memory for it";

static const char *take_number(const struct k8s_entry *entry, uint32_t *number)
{
	if (entry->length != 4)
		return senseless;
	*number = k8s_get_u32(entry->value);
	return NULL;
}

static const char *take(struct words *words, const struct k8s_entry *entry)
{
	switch (entry->tag) {
	case K8S_RECORD_ARGV:
		words->arguments[words->argument_count++] = (char *)entry->value;
		return NULL;
	case K8S_RECORD_ENV:
		words->variables[words->variable_count++] = (char *)entry->value;
		return NULL;
	case K8S_RECORD_DIRECTORY:
		words->directory = (char *)entry->value;
		return NULL;
	case K8S_RECORD_TTY:
		words->rows = k8s_get_u16(entry->value);
		words->columns = k8s_get_u16(entry->value + 2);
		return NULL;
	case K8S_RECORD_TERMINALS:
		/* Never without stdin: the others alone would be a terminal that nobody types on. */
		words->terminals = entry->length == 1 && entry->value[0] & 1 ? entry->value[0] & 7u : 0;
		return NULL;
	case K8S_RECORD_SCRIPT_WORD:
		return take_number(entry, &words->script_at);
	case K8S_RECORD_SCRIPT:
		return k8s_buffer_append(&words->script, entry->value, entry->length) ? no_memory : NULL;
	default:
		return NULL;
	}
}

static const char *check(const struct words *words)
{
	const char *name = words->arguments[0];

	if (!name || !*name || strchr(name, '/'))
		return senseless;
	if (words->directory && words->directory[0] != '/')
		return senseless;
	return words->script_at >= words->argument_count ? senseless : NULL;
}

const char *words_read(struct words *words, struct k8s_buffer *records)
{
	struct entries entries;
	const char *why = NULL;

	words->script.limit = K8S_CALL_RECORDS;
	if (entries_read(&entries, records))
		return senseless;
	words->arguments = calloc(entries.count + 1, sizeof(*words->arguments));
	words->variables = calloc(entries.count + 1, sizeof(*words->variables));
	if (!words->arguments || !words->variables)
		why = no_memory;
	for (size_t i = 0; !why && i < entries.count; i++)
		why = take(words, &entries.all[i]);
	entries_clear(&entries);
	return why ? why : check(words);
}

static int write_all(int fd, const unsigned char *bytes, size_t count)
{
	while (count) {
		ssize_t some = write(fd, bytes, count);

		if (some < 0 && errno != EINTR)
			return -1;
		if (some > 0) {
			bytes += some;
			count -= (size_t)some;
		}
	}
	return 0;
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;

	return *base && strcmp(base, ".") && strcmp(base, "..") && strlen(base) < 200 ? base : "script";
}

/* Under its own name, which becomes the job's. */
const char *words_write_script(struct words *words, char **directory, char **path)
{
	static const char *const why = "the job file cannot be written to a temporary directory of the Slurm node";
	const char *word = words->arguments[words->script_at];
	const char *top = getenv("TMPDIR");
	int fd, failed;

	if (!top || access(top, W_OK))
		top = "/tmp";
	if (asprintf(directory, "%s/slurm-k8s-XXXXXX", top) < 0)
		*directory = NULL;
	if (!*directory || !mkdtemp(*directory)) {
		free(*directory);
		*directory = NULL;
		return why;
	}
	if (asprintf(path, "%s/%s", *directory, base_of(word)) < 0) {
		*path = NULL;
		return why;
	}
	fd = open(*path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	if (fd < 0)
		return why;
	failed = write_all(fd, words->script.bytes, words->script.size);
	failed |= close(fd);
	words->arguments[words->script_at] = *path;
	return failed ? why : NULL;
}

void words_clear(struct words *words)
{
	free(words->arguments);
	free(words->variables);
	k8s_buffer_clear(&words->script);
	*words = (struct words){ 0 };
}
