/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm_api.h - the only way from the shim to Slurm.
 *
 * spank_*, slurm_error and slurm_info are left undefined and found by the loader in
 * the process that loads the plugin. Everything else is looked up by name when it
 * is needed, so that one missing function costs one feature and not the plugin:
 * a required plugin that does not load stops slurmd, sbatch, srun and salloc.
 * libslurm is never linked: it would bring a second, uninitialised state.
 *
 * A test defines the spank_* and slurm_* functions itself, and slurm_symbol().
 */
#ifndef K8S_SLURM_API_H
#define K8S_SLURM_API_H

/* spank.h includes neither of these two. */
#include <stdint.h>
#include <sys/types.h>

#include <slurm/slurm.h>
#include <slurm/spank.h>

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
#error "from Slurm 25.11 on, jobs are named by slurm_step_id_t: not done yet"
#endif

/* The address of `name` in this process, or NULL. */
void *slurm_symbol(const char *name);

/* A function that slurm.h declares, as a pointer of its own type, or NULL. */
#define SLURM_CALL(name) ((__typeof__(name) *)slurm_symbol(#name))

#endif
