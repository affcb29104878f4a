/* SPDX-License-Identifier: Apache-2.0 */
/* rules.h - which commands the site offers, and where they are: the core's word, of k8s.yaml. */
#ifndef RELAY_RULES_H
#define RELAY_RULES_H

#include <stddef.h>

#include "../common/buffer.h"

/* Takes START's records; keeps a copy. Returns 0, or -1: they make no sense. */
int rules_take(const unsigned char *records, size_t size);

/* The variables that the site adds to every command's environment: NAME=value by number, NULL behind the last. */
const char *rules_variable(size_t number);

/* Whether a command may run with these words. NULL, or one line why not (static). */
const char *rules_refuse(char *const *words);

/* Finds a command: writes its absolute path. Returns 0, or -1: it is in none of the directories. */
int rules_find(const char *name, char *path, size_t capacity);

#endif
