// SPDX-License-Identifier: Apache-2.0
/* What Slurm looks up: every hook, and which part of the shim it is for in which process. */
#include "allocate.h"
#include "config.h"
#include "epilog.h"
#include "launch.h"
#include "options.h"
#include "say.h"
#include "slurm_api.h"
#include "step.h"
#include "submit.h"
#include "task.h"

#define EXPORTED __attribute__((visibility("default")))

/* Not by SPANK_PLUGIN, which exports one name more than Slurm needs. */
EXPORTED const char plugin_name[] = PLUGIN_NAME;
EXPORTED const char plugin_type[] = "spank";
EXPORTED const unsigned int plugin_version = SLURM_VERSION_NUMBER;

#pragma GCC visibility push(default)

int slurm_spank_init(spank_t spank, int argc, char **argv)
{
	config_load(argc, argv);
	switch (spank_context()) {
	case S_CTX_ALLOCATOR:
		if (!submit_is_sbatch())
			allocate_remember();
		return options_register(spank);
	case S_CTX_LOCAL:
		return options_register(spank);
	case S_CTX_REMOTE:
		step_init();
		options_register(spank);
		return 0;
	default:
		return 0;
	}
}

int slurm_spank_init_post_opt(spank_t spank, int argc, char **argv)
{
	const struct config *config = config_load(argc, argv);

	switch (spank_context()) {
	case S_CTX_ALLOCATOR:
		if (submit_is_sbatch())
			return submit_check(spank, config);
		return allocate_begin_again(config) ? -1 : launch_check(spank, config, "salloc");
	case S_CTX_LOCAL:
		return launch_check(spank, config, "srun");
	case S_CTX_REMOTE:
		step_prepare(spank, config);
		return 0;
	default:
		return 0;
	}
}

int slurm_spank_task_init(spank_t spank, int argc, char **argv)
{
	switch (spank_context()) {
	case S_CTX_REMOTE:
		return task_become_relay(spank, config_load(argc, argv));
	default:
		return 0;
	}
}

int slurm_spank_task_post_fork(spank_t spank, int argc, char **argv)
{
	switch (spank_context()) {
	case S_CTX_REMOTE:
		step_start(spank, config_load(argc, argv));
		return 0;
	default:
		return 0;
	}
}

int slurm_spank_exit(spank_t spank, int argc, char **argv)
{
	(void)spank;
	switch (spank_context()) {
	case S_CTX_REMOTE:
		step_finish(config_load(argc, argv));
		return 0;
	default:
		return 0;
	}
}

int slurm_spank_job_epilog(spank_t spank, int argc, char **argv)
{
	switch (spank_context()) {
	case S_CTX_JOB_SCRIPT:
		epilog_run(spank, config_load(argc, argv));
		return 0;
	default:
		return 0;
	}
}
