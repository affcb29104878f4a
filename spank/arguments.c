// SPDX-License-Identifier: Apache-2.0
#include "arguments.h"

#include <stddef.h>
#include <string.h>

static int word_count;
static char **word_list;

void arguments_set(int count, char **words)
{
	word_count = count;
	word_list = words;
}

/* glibc hands constructors what main() gets, those of libraries loaded late too. */
__attribute__((constructor)) static void remember(int count, char **words)
{
	arguments_set(count, words);
}

bool arguments_are_known(void)
{
	return word_count > 0;
}

bool arguments_hold(const char *text)
{
	for (int i = 0; i < word_count && word_list[i]; i++)
		if (text >= word_list[i] && text <= word_list[i] + strlen(word_list[i]))
			return true;
	return false;
}

const char *arguments_word(int index)
{
	return index > 0 && index < word_count ? word_list[index] : NULL;
}
