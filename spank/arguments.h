/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.h - the words of this process's command line, as main() got them. */
#ifndef K8S_ARGUMENTS_H
#define K8S_ARGUMENTS_H

#include <stdbool.h>

/* Whether `text` lies in a word of the command line: by address, not by content. An
 * option's value that does was typed there; any other came from the script or the
 * environment. */
bool arguments_hold(const char *text);

/* Whether they are known: not every C library tells a plugin. */
bool arguments_are_known(void);

/* Word number `index`, or NULL where there is none. */
const char *arguments_word(int index);

/* Another command line, for tests. */
void arguments_set(int count, char **words);

#endif
