/* SPDX-License-Identifier: Apache-2.0 */
/* spank_submitter.h - sbatch and its like on the fake Slurm, for the tests of the user's side. */
#ifndef SPANK_SUBMITTER_H
#define SPANK_SUBMITTER_H

#include "spank_host.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../spank/arguments.h"

static char *words[4] = { "sbatch", NULL, NULL, NULL };
static struct fake_core *core;

static inline void begin(const char *kind)
{
	host.context = S_CTX_ALLOCATOR;
	host.process_uid = 1234;
	core = fake_core_ok();
	fake_install(kind);
	assert_int_equal(slurm_spank_init(SP, fake_argc, fake_argv), 0);
}

static inline void script(const char *text)
{
	words[1] = fake_file("job.sh", text);
	arguments_set(2, words);
	optind = 1;
}

static inline int submit(void)
{
	return slurm_spank_init_post_opt(SP, fake_argc, fake_argv);
}

static inline void asked(const char *field)
{
	char line[1024];

	snprintf(line, sizeof(line), "%s\n", field);
	if (!strstr(core->fields, line))
		fail_msg("no %s in %s", field, core->fields);
}

#endif
