// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "allocate.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../include/commands.h"
#include "arguments.h"
#include "components.h"
#include "request.h"
#include "say.h"

/* What salloc was started with: its parser changes the environment, and --chdir the directory. */
static char **before;
static int directory = -1;

/* Room for one more. */
void allocate_remember(void)
{
	size_t count = 0;

	if (before || !getenv(K8S_ALLOCATE_FD))
		return;
	while (environ[count])
		count++;
	before = calloc(count + 2, sizeof(*before));
	for (size_t i = 0; before && i < count; i++)
		before[i] = environ[i];
	directory = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* The relay finds the socket by another name than this plugin does. Returns 0, or -1. */
static int tell_relay(void)
{
	static char *socket, *chosen;
	const char *chdir = tool_option("chdir"), *prefix = K8S_ALLOCATE_FD "=";
	char **variable = before;

	free(socket);
	free(chosen);
	socket = chosen = NULL;
	if (chdir && asprintf(&chosen, "%s=%s", K8S_ALLOCATED_DIRECTORY, chdir) < 0)
		return -1;
	while (strncmp(*variable, prefix, strlen(prefix)))
		variable++;
	if (asprintf(&socket, "%s=%s", K8S_ALLOCATED_FD, *variable + strlen(prefix)) < 0)
		return -1;
	*variable = socket;
	while (*variable)
		variable++;
	*variable = chosen;
	return 0;
}

/* Index of the first word of COMMAND in the whole command line; that of its end where there is none. */
static int find_command(const char *word)
{
	int i = 1;

	while (arguments_word(i) && arguments_word(i) != word)
		i++;
	return i;
}

static char **add_relay(const char *relay, int at)
{
	static char marker[] = K8S_ALLOCATED_WORD;
	int count = find_command(NULL), to = 0;
	char **words = calloc((size_t)count + 3, sizeof(*words));

	if (!words)
		return NULL;
	for (int i = 0; i <= count; i++) {
		if (i == at) {
			words[to++] = (char *)relay;
			words[to++] = marker;
		}
		words[to++] = i ? (char *)arguments_word(i) : program_invocation_name;
	}
	return words;
}

int allocate_begin_again(const struct config *config)
{
	const char *word = components_word(optind);
	char relay[PATH_MAX], **words;

	/* A component ends at a colon: more are to come. */
	if (!before || tool_option("no-shell") || (word && !strcmp(word, ":")))
		return 0;
	if (!arguments_are_known()) {
		say_error("salloc: its command would run on the Slurm node and not in the Pod: give --no-shell, then srun --jobid");
		return -1;
	}
	snprintf(relay, sizeof(relay), "%s/relay", config->libexec);
	words = add_relay(relay, find_command(word));
	if (words && !tell_relay() && (directory < 0 || !fchdir(directory)))
		execve("/proc/self/exe", words, before);
	say_error("salloc: its command cannot be run in the Pod: %s", strerror(errno));
	free(words);
	return -1;
}

void allocate_forget(void)
{
	free(before);
	before = NULL;
	if (directory >= 0)
		close(directory);
	directory = -1;
}
