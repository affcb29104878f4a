/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz.h - a fuzzer for one parser in C, steered by coverage, with nothing but gcc: see fuzz.mk. */
#ifndef TESTS_C_FUZZ_H
#define TESTS_C_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* No input is longer. */
#define FUZZ_MOST (80 * 1024)

/* The target's: feeds one input to the parser. `data` is a block of exactly `size` bytes, so that the
 * sanitizer sees a byte read beyond it. Whatever it keeps must be gone when it returns. */
void fuzz_one(const unsigned char *data, size_t size);

/* The target's: adds what to begin with, by fuzz_add. */
void fuzz_seeds(void);

/* Keeps a copy of an input to change. */
void fuzz_add(const void *data, size_t size);

/* A rule of the parser's own is broken: ends the run with this input written to a file. */
#define FUZZ_CHECK(condition) ((condition) ? (void)0 : fuzz_fail(__FILE__, __LINE__, #condition))
_Noreturn void fuzz_fail(const char *file, int line, const char *condition);

#endif
