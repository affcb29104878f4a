/* SPDX-License-Identifier: Apache-2.0 */
/* frames_vectors.h - reads tests/vectors/frames.txt, whose head explains its format. */
#ifndef FRAMES_VECTORS_H
#define FRAMES_VECTORS_H

#include <stddef.h>

/* The words of a line: at most this many are kept. */
#define VECTOR_WORDS 32

struct vector {
	char *line; /* owned; words point into it */
	char *words[VECTOR_WORDS];
	size_t count;
};

/* Bytes of a hex word. */
struct blob {
	unsigned char *bytes; /* owned, exactly `size` long, so that ASan sees a step beyond */
	size_t size;
};

/* All lines that are neither blank nor comments. Ends the program when there are none.
 * Never freed: a test lives as long as it needs them. */
struct vector *vectors_read(const char *path, size_t *count);

/* The bytes of a word; ends the program when it is not of the format. */
struct blob blob_of(const char *word);

void blob_free(struct blob *blob);

#endif
