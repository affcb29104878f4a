// SPDX-License-Identifier: Apache-2.0
#include "components.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "options.h"
#include "request.h"
#include "slurm_api.h"

extern char **environ;

static int here;    /* components before this one */
static int base;    /* where this part of the command line begins, in all of it */
static int members; /* components of this part before this one */
static char **before;

int components_here(void)
{
	return here;
}

const char *components_word(int index)
{
	return arguments_word(base + index);
}

static bool is_srun(void)
{
	return spank_context() == S_CTX_LOCAL;
}

/* Returns the end of the number at `text`, or NULL. */
static const char *read_number(const char *text, int *number)
{
	char *end;
	long value;

	if (*text < '0' || *text > '9')
		return NULL;
	value = strtol(text, &end, 10);
	*number = value < COMPONENTS_MAX ? (int)value : COMPONENTS_MAX;
	return value < COMPONENTS_MAX ? end : NULL;
}

/* Returns whether `text` is a list, and marks its members. */
static bool mark(const char *text, bool has[COMPONENTS_MAX])
{
	bool is_bracketed = *text == '[';

	for (text += is_bracketed;; text++) {
		int first, last;

		text = read_number(text, &first);
		last = first;
		if (text && *text == '-')
			text = read_number(text + 1, &last);
		if (!text || last < first)
			return false;
		while (first <= last)
			has[first++] = true;
		if (*text != ',')
			return is_bracketed ? !strcmp(text, "]") : !*text;
	}
}

int components_member(const char *text, int index, int *count)
{
	bool has[COMPONENTS_MAX] = { false };
	int found = -1;

	*count = 0;
	if (!mark(text, has))
		return -1;
	for (int i = 0; i < COMPONENTS_MAX; i++)
		if (has[i] && (*count)++ == index)
			found = i;
	return found;
}

/* srun's --het-group in this part, as it was typed; NULL where it was not. */
static const char *typed_groups(void)
{
	const char *list = NULL;

	for (int i = 1; i < optind && components_word(i); i++) {
		const char *word = components_word(i), *value;

		/* Its beginning is enough for getopt; --pack-group is its old name. */
		if (strncmp(word, "--het", 5) && strncmp(word, "--pack", 6))
			continue;
		value = strchr(word, '=');
		list = value ? value + 1 : components_word(i + 1);
	}
	return list;
}

/* How many components of a step this part of srun's command line is. */
static int count_here(void)
{
	const char *list = is_srun() ? typed_groups() : NULL;
	int count;

	if (!list)
		return 1;
	components_member(list, 0, &count);
	return count ? count : 1;
}

int components_group(void)
{
	/* srun goes through the list, and has each member here in turn; nothing for component 0 of none. */
	const char *text = tool_value("het-group");
	int count, group;

	if (!text || !*text)
		return 0;
	group = components_member(text, 0, &count);
	return count == 1 ? group : 0;
}

/* The ':' that ends this part, or 0. srun looks for it everywhere behind its options, the others
 * where the job file or the command would be. */
static int find_end(void)
{
	for (int i = optind; components_word(i); i++) {
		if (!strcmp(components_word(i), ":"))
			return i;
		if (!is_srun())
			break;
	}
	return 0;
}

bool components_are_several(void)
{
	return here > 0 || count_here() > 1 || find_end();
}

/* One block of memory, the list and its texts. Returns NULL without it. */
static char **copy_environment(void)
{
	size_t count = 0, room = 0, at = 0;
	char **list, *text;

	for (; environ && environ[count]; count++)
		room += strlen(environ[count]) + 1;
	list = calloc(1, (count + 1) * sizeof(*list) + room);
	if (!list)
		return NULL;
	text = (char *)(list + count + 1);
	for (size_t i = 0; i < count; i++)
		if (options_is_variable(environ[i])) {
			list[at++] = strcpy(text, environ[i]);
			text += strlen(text) + 1;
		}
	return list;
}

char *const *components_environment(void)
{
	if (!before)
		before = copy_environment();
	return before ? before : environ;
}

/* getopt takes any beginning of an option that no other has. */
bool components_are_touched(void)
{
	if (*components_environment())
		return true;
	for (int i = 1; arguments_word(i); i++)
		if (!strncmp(arguments_word(i), "--k8", 4))
			return true;
	return false;
}

void components_next(void)
{
	here++;
	if (++members < count_here())
		return;
	members = 0;
	base += find_end();
}

void components_forget(void)
{
	free(before);
	before = NULL;
	here = base = members = 0;
}
