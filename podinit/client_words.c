// SPDX-License-Identifier: Apache-2.0
#include "client_words.h"

#include <stddef.h>
#include <string.h>

/* sbatch's options without a value, or with one that only `=` can give; all others take the next
 * word where the value does not follow at once. */
#define SHORT_FLAGS "HIkKOQRsvWhVuX"
static const char *const long_flags[] = {
	"hold", "ignore-pbs", "no-kill", "nice", "no-requeue", "overcommit", "parsable", "propagate", "quiet",
	"reboot", "requeue", "oversubscribe", "share", "spread-job", "use-min-nodes", "verbose", "wait", "contiguous",
	"exclusive", "get-user-env", "test-only", "help", "usage", "version", "immediate", "stepmgr", "resv-ports",
	"consolidate-segments", "spread-segments", NULL,
};

static bool is_long_flag(const char *word)
{
	for (int i = 0; long_flags[i]; i++)
		if (!strcmp(long_flags[i], word))
			return true;
	return false;
}

/* "-Hn2": letters up to the first that takes a value, which is the rest or the next word. */
static bool takes_next(const char *word)
{
	if (word[1] == '-')
		return !strchr(word, '=') && !is_long_flag(word + 2);
	for (word++; *word; word++)
		if (!strchr(SHORT_FLAGS, *word))
			return !word[1];
	return false;
}

static bool is_wrap(const char *word)
{
	return !strncmp(word, "--wrap", 6) && (!word[6] || word[6] == '=');
}

/* The first word that is neither an option nor an option's value; argc: there is none. */
static int first_operand(int argc, char **argv, bool *wrapped)
{
	for (int i = 1; i < argc; i++) {
		/* Behind it are the options of the next component; sbatch looks for its script as if there were none. */
		if (!strcmp(argv[i], ":"))
			continue;
		if (!strcmp(argv[i], "--"))
			return i + 1 < argc ? i + 1 : argc;
		if (argv[i][0] != '-' || !argv[i][1])
			return i;
		*wrapped |= is_wrap(argv[i]);
		i += takes_next(argv[i]);
	}
	return argc;
}

int words_script(int argc, char **argv)
{
	bool wrapped = false;
	int at = first_operand(argc, argv, &wrapped);

	return wrapped || at >= argc ? 0 : at;
}

static bool has_operand(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (argv[i][0] != '-')
			return true;
	return false;
}

static bool asks(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "-i") || !strcmp(argv[i], "--interactive"))
			return true;
	return false;
}

bool words_want_input(const char *name, int argc, char **argv)
{
	bool wrapped = false;

	if (!strcmp(name, "sbatch"))
		return first_operand(argc, argv, &wrapped) >= argc && !wrapped;
	if (!strcmp(name, "scontrol"))
		return !has_operand(argc, argv);
	if (!strcmp(name, "scancel"))
		return asks(argc, argv);
	return !strcmp(name, "srun");
}
