/* SPDX-License-Identifier: Apache-2.0 */
/* option_table.h - what options there are, and by which names they travel: the place for a new one. */
#ifndef K8S_OPTION_TABLE_H
#define K8S_OPTION_TABLE_H

#include "options.h"

/* Words of options that more than the table knows. */
#define SCOPE_STEPS "steps"

/* As Slurm registers them; the callback is options_register's to set. */
extern struct spank_option option_table[OPTION_COUNT];

struct option_names {
	const char *key;
	const char *variable; /* the user's; NULL: it is for one srun, and not for those inside */
	const char *slurm;    /* Slurm's */
	const char *words[2]; /* the only values, where there are such */
};

extern const struct option_names option_names[OPTION_COUNT];

#endif
