/* SPDX-License-Identifier: Apache-2.0 */
/* config.h - the plugin's arguments in plugstack.conf, and the one key of the site's file
 * that has to be known before the core is loaded. */
#ifndef K8S_CONFIG_H
#define K8S_CONFIG_H

#include <stdbool.h>

struct config {
	const char *site;    /* config=: the site's file */
	const char *libexec; /* libexec=: folder of gocore.so, relay and podinit */
	const char *state;   /* state=: folder of the markers */
	char *fault;	     /* a line for each argument that is wrong, or NULL */
};

/* Reads the arguments, at the first call; later calls return the same. Never fails: what is
 * wrong stands in `fault`, and stops only jobs that asked for a Pod. The words are
 * borrowed for the life of the plugin, as Slurm keeps them. */
const struct config *config_load(int count, char **words);

/* Forgets what was read, for tests. */
void config_forget(void);

/* Whether the site's file says `legacy_comments: yes` (or true, or on) at the start of a
 * line. The core reads the file whole and strictly; this looks for that line alone. */
bool config_legacy_comments(const char *site);

#endif
