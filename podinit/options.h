/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - podinit's command line. */
#ifndef PODINIT_OPTIONS_H
#define PODINIT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct options {
	bool pump; /* else init */
	uint64_t session;
	int64_t orphan_timeout_ms;
	int64_t start_timeout_ms;
	int64_t linger_ms;
	/* For tests outside a container, not documented elsewhere: */
	const char *run;    /* --run=DIR instead of K8S_RUN_DIRECTORY */
	const char *cgroup; /* --cgroup=DIR instead of /sys/fs/cgroup */
	const char *report; /* --report=FILE instead of /dev/termination-log */
};

/* Reads argv; strings in `options` point into it. Returns 0, or -1 after one line on
 * stderr about what is wrong. */
int options_read(struct options *options, int argc, char **argv);

#endif
