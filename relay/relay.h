/* SPDX-License-Identifier: Apache-2.0 */
/* relay.h - what the relay knows. It runs as the user, perhaps with hardly any memory
 * or processes allowed: one thread, nothing allocated, fixed buffers that are touched
 * only when they are needed. */
#ifndef RELAY_H
#define RELAY_H

#include <stdbool.h>
#include <stdint.h>

/* How the Slurm side calls it, see launch.c. */
struct launch {
	int socket;		/* to the core; close-on-exec from here on */
	char *const *arguments; /* of the original command, NULL-ended */
	bool batch;		/* the first of them is the job's script, to be sent */
	const char *pull_secret; /* path of the user's Docker configuration, to be sent; or NULL */
};

struct relay {
	int socket;	/* non-blocking; -1: the core has closed it */
	bool terminal;	/* stdin is one */
	bool started;	/* START came: the task runs, its input may be read */
	bool exited;	/* EXIT came: */
	int status;	/* as of wait(2) */
	bool told_term; /* SIGTERM came, from Slurm */
};

extern struct relay relay;

#endif
