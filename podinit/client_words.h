/* SPDX-License-Identifier: Apache-2.0 */
/* client_words.h - what the words of a command line say that must be known here, in the Pod. */
#ifndef PODINIT_CLIENT_WORDS_H
#define PODINIT_CLIENT_WORDS_H

#include <stdbool.h>

/* The index of sbatch's script in argv, 0: it reads the script from stdin, or makes one (--wrap). */
int words_script(int argc, char **argv);

/* Whether the command reads its stdin. One that does not must leave it to the loop around it. */
bool words_want_input(const char *name, int argc, char **argv);

#endif
