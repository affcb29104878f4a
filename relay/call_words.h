/* SPDX-License-Identifier: Apache-2.0 */
/* call_words.h - the records of a call: untrusted, as they come from the Pod. */
#ifndef RELAY_CALL_WORDS_H
#define RELAY_CALL_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../common/buffer.h"

struct words {
	char **arguments; /* NULL-ended; the first is the command's name */
	char **variables;
	size_t argument_count, variable_count;
	const char *directory; /* absolute, or NULL */
	uint16_t rows, columns;
	unsigned terminals; /* bits of the files that are the terminal; 0: none is */
	uint32_t script_at; /* the argument that names the script; 0: there is none */
	struct k8s_buffer script;
};

/* Reads them; strings point into the row, which is written to and must outlive words. Returns NULL, or a line (static) why not: then call words_clear too. */
const char *words_read(struct words *words, struct k8s_buffer *records);

/* Writes the script to a file of its name in a directory of its own, whose paths are the caller's to
 * remove and free, and lets the argument name it (a borrowed *path). Returns NULL, or a line (static) why not. */
const char *words_write_script(struct words *words, char **directory, char **path);

/* Frees them. */
void words_clear(struct words *words);

#endif
