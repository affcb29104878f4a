/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - time for deadlines: goes on while the machine is suspended, is never set. */
#ifndef PODINIT_CLOCK_H
#define PODINIT_CLOCK_H

#include <stdint.h>
#include <time.h>

/* A deadline that never comes. */
#define CLOCK_NEVER INT64_MAX

/* Milliseconds since boot. */
static inline int64_t clock_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static inline int64_t clock_earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

#endif
