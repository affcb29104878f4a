/* SPDX-License-Identifier: Apache-2.0 */
/* spank_launcher.h - srun and salloc on the fake Slurm, for the tests of the user's side. */
#ifndef SPANK_LAUNCHER_H
#define SPANK_LAUNCHER_H

#include "spank_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../spank/arguments.h"

static struct fake_core *core;
static char typed[] = "--k8s-image=a:1";
static char *words[] = { "srun", typed, "hostname", NULL, NULL, NULL };

static inline void begin(spank_context_t context)
{
	host.context = context;
	host.is_sbatch = false;
	host.process_uid = 1234;
	core = fake_core_ok();
	fake_install("ok");
	arguments_set(3, words);
	optind = 2;
	assert_int_equal(slurm_spank_init(SP, fake_argc, fake_argv), 0);
}

static inline void typed_image(void)
{
	fake_option("k8s-image", strchr(typed, '=') + 1, 0);
}

static inline int launch(void)
{
	return slurm_spank_init_post_opt(SP, fake_argc, fake_argv);
}

static inline void asked(const char *field)
{
	char line[512];

	snprintf(line, sizeof(line), "%s\n", field);
	if (!strstr(core->fields, line))
		fail_msg("no %s in %s", field, core->fields);
}

/* As srun finds it in a shell of salloc --k8s-image=outer:1. */
static inline void inherit(void)
{
	setenv("SLURM_JOB_ID", "7", 1);
	setenv("SLURM_K8S_IMAGE", "outer:1", 1);
	setenv("_SLURM_SPANK_OPTION_k8s_k8s_image", "outer:1", 1);
	setenv("SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_image", "outer:1", 1);
	fake_option("k8s-image", "outer:1", 0);
}

#endif
