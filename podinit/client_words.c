// SPDX-License-Identifier: Apache-2.0
#include "client_words.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A command's options without a value, or with one that only what is written at once can give
 * (`=`, or the rest of the letters); all others take the next word where the value does not follow
 * at once. Of slurm_opt.c's tables, releases 22.05 to 25.05. */
struct syntax {
	const char *letters;
	const char *flags; /* each between two spaces */
};

#define OPTIONAL_LETTERS "IkK" /* what follows such a letter is its value */

static const struct syntax sbatch = {
	"HIkKOQRsvWhVuX",
	" hold ignore-pbs no-kill nice no-requeue overcommit parsable propagate quiet reboot "
	"requeue oversubscribe share spread-job use-min-nodes verbose wait contiguous exclusive "
	"get-user-env test-only help usage version immediate stepmgr resv-ports "
	"consolidate-segments spread-segments ",
};

static const struct syntax srun = {
	"EHIjkKlOQRsuvhVXZ",
	" bcast compress contiguous debugger-test disable-status exact exclusive external-launcher "
	"help hold immediate interactive kill-on-bad-exit label multi-prog nice no-allocate "
	"no-kill no-rotate overcommit overlap oversubscribe preserve-env propagate pty quiet "
	"quit-on-interrupt reboot requeue resv-ports send-libs share spread-job stepmgr test-only "
	"unbuffered usage use-min-nodes verbose version wait-for-children x11 consolidate-segments "
	"spread-segments ",
};

/* Options with a value that are, or have a common beginning with, a flag that not each release has. */
static const char with_value[] = " constraint reservation wait ";

/* Whether one of the names is the word or, shortened, begins with it, as getopt_long takes it. */
static bool is_one_of(const char *names, const char *word, bool shortened)
{
	size_t length = strlen(word);

	for (const char *at = names; (at = strchr(at, ' ')); at++)
		if (!strncmp(at + 1, word, length) && (at[1 + length] == ' ' || (shortened && at[1])))
			return true;
	return false;
}

static bool is_long_flag(const struct syntax *syntax, const char *word)
{
	return is_one_of(syntax->flags, word, false) ||
	       (is_one_of(syntax->flags, word, true) && !is_one_of(with_value, word, true));
}

/* "-Hn2": letters up to the first that takes a value, which is the rest or the next word. */
static bool takes_next(const struct syntax *syntax, const char *word)
{
	if (word[1] == '-')
		return !strchr(word, '=') && !is_long_flag(syntax, word + 2);
	for (word++; *word && !strchr(OPTIONAL_LETTERS, *word); word++)
		if (!strchr(syntax->letters, *word))
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
		i += takes_next(&sbatch, argv[i]);
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

/* The value of srun's --input where the word is that option, else NULL; next: the word behind it. */
static const char *input_of(const char *word, const char *next)
{
	if (!strncmp(word, "--input", 7) && (!word[7] || word[7] == '='))
		return word[7] ? word + 8 : next;
	if (word[1] != 'i')
		return NULL;
	return word[2] ? word + 2 : next;
}

/* With --input=none, or a file, srun leaves its stdin alone; a number is the one task that gets it. */
static bool srun_reads(int argc, char **argv)
{
	const char *input = getenv("SLURM_STDINMODE"), *given;

	for (int i = 1; i < argc && argv[i][0] == '-' && argv[i][1] && strcmp(argv[i], "--"); i++) {
		given = input_of(argv[i], argv[i + 1]);
		if (given)
			input = given;
		i += i + 1 < argc && takes_next(&srun, argv[i]);
	}
	return !input || !strcmp(input, "all") || !input[strspn(input, "0123456789")];
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
	return !strcmp(name, "srun") && srun_reads(argc, argv);
}
