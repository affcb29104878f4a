/* SPDX-License-Identifier: Apache-2.0 */
/* legacy.h - the comment lines #K8S_IMAGE=, #K8S_WORKDIR= and #K8S_SCRIPT= at the head of a job
 * file, from before there were options. */
#ifndef K8S_LEGACY_H
#define K8S_LEGACY_H

#include <stdbool.h>
#include <stddef.h>

enum legacy_key { LEGACY_IMAGE, LEGACY_WORKDIR, LEGACY_SCRIPT, LEGACY_COUNT };

struct legacy {
	char *value[LEGACY_COUNT]; /* NULL where there is no such line; the last one counts */
	bool command;		   /* the file has a command line of its own */
};

/* Reads the head of a job file: up to the first line that is neither empty nor a comment.
 * `text` may hold anything. `whole` says whether it is the whole file: where it is not,
 * a command is taken to follow. */
void legacy_parse(const char *text, size_t length, bool whole, struct legacy *legacy);

/* Frees what legacy_parse found. */
void legacy_free(struct legacy *legacy);

#endif
