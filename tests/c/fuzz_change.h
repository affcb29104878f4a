/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_change.h - inputs out of inputs, at random. */
#ifndef TESTS_C_FUZZ_CHANGE_H
#define TESTS_C_FUZZ_CHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "fuzz.h"

struct fuzz_input {
	unsigned char *data;
	size_t size;
};

/* Begins the row of random numbers; the same seed gives the same row. */
void fuzz_seed(uint64_t seed);

/* A number below `limit`, which is not 0. */
uint64_t fuzz_random(uint64_t limit);

/* Writes one of the `count` inputs, changed, to `data` of FUZZ_MOST bytes; returns its size. */
size_t fuzz_change(const struct fuzz_input *inputs, size_t count, unsigned char *data);

#endif
