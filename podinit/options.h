/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - podinit's command line. */
#ifndef PODINIT_OPTIONS_H
#define PODINIT_OPTIONS_H

#include <stdint.h>

enum mode { MODE_INIT, MODE_PUMP, MODE_JOIN };

struct options {
	enum mode mode;
	uint64_t session;
	int64_t orphan_timeout_ms;
	int64_t start_timeout_ms;
	int64_t linger_ms; /* after the tasks' end, without a core, while something is left for it */
	/* For tests outside a container, not documented elsewhere: */
	int64_t empty_linger_ms; /* --empty-linger=SECONDS instead of 60: at most so long with nothing left */
	const char *run;    /* --run=DIR instead of K8S_RUN_DIRECTORY */
	const char *cgroup; /* --cgroup=DIR instead of /sys/fs/cgroup */
	const char *report; /* --report=FILE instead of /dev/termination-log; of a join always none */
	const char *log;    /* of a join: --log=FILE instead of process 1's stderr */
};

/* Reads argv; strings in `options` point into it. Returns 0, or -1 after one line on
 * stderr about what is wrong. */
int options_read(struct options *options, int argc, char **argv);

#endif
