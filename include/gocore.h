/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gocore.h - the contract between a host (the SPANK shim) and the core, a Go
 * c-shared library that the host loads late, with dlopen(RTLD_NOW|RTLD_LOCAL).
 *
 * Rules for all calls:
 * - The host never forks after the first call but through exec, and calls from
 *   any thread of the process that loaded the core.
 * - Strings and vectors in are borrowed for the call. Text out is written into
 *   the caller's buffer, always NUL-ended, cut to fit. Nothing is to be freed.
 * - A vector is NULL-ended, of "key=value". A key may come more than once where
 *   it says so. An unknown key is ignored, so that either side may be newer.
 * - No call panics, exits, or lets a Go panic through.
 */
#ifndef K8S_GOCORE_H
#define K8S_GOCORE_H

#include <stddef.h>
#include <stdint.h>

#define K8S_CORE_ABI 1

enum k8s_log_level { K8S_LOG_ERROR = 0, K8S_LOG_INFO = 1, K8S_LOG_DEBUG = 2 };

/* What the core may ask of its host. All may be called from any thread, at any
 * time until k8s_core_finish returned. Slurm calls: 0, or Slurm's errno (> 0). */
struct k8s_host {
	size_t size; /* sizeof(struct k8s_host) of the host's build */
	/* One line, without newline or secrets. */
	void (*log)(int level, const char *line);
	/* Asks slurmctld for the job. Fills `out` with NUL-ended "key=value",
	 * one after the other, closed by an empty one; ERANGE-like -1 when
	 * `capacity` is too small. Keys: user_id, group_id, user_name, home,
	 * account, partition, qos, name, restart_count, requeue (0|1),
	 * time_limit (minutes, or "UNLIMITED"), exclusive (0|1), nodes (how
	 * many), whole_memory (1: --mem=0), array_job_id, array_task_id, gres (this node's part of the
	 * allocation, as slurmctld prints it: "gpu:2(IDX:0-1),shard:a:1"), cpus and memory_mb (this node's
	 * part), tres (all that the job has, Slurm's text), admin_comment, state (Slurm's name: "RUNNING", "CANCELLED" ...), batch_host (the node
	 * of a batch job's script). */
	int (*job_facts)(uint32_t job_id, char *out, size_t capacity);
	/* Puts a batch job back to PENDING; ends this incarnation. */
	int (*requeue)(uint32_t job_id);
	/* Fields: begin_time (seconds since 1970), admin_comment, requeue (0|1). */
	int (*update)(uint32_t job_id, const char *const *fields);
	/* Ends a running job as OUT_OF_MEMORY. */
	int (*complete_out_of_memory)(uint32_t job_id);
	/* Ends a step of a job on all its nodes, as scancel J.S does. */
	int (*end_step)(uint32_t job_id, uint32_t step_id);
	/* Asks slurmctld for one step: as job_facts. Keys: tres (allocated to the step in all,
	 * Slurm's text: "cpu=4,mem=400M,node=2,gres/gpu=2,gres/gpu:a100=2"), overlap (0|1: srun
	 * --overlap; of the host's own step alone). */
	int (*step_facts)(uint32_t job_id, uint32_t step_id, char *out, size_t capacity);
	/* Changes the AdminComment that slurmdbd keeps of a job that has ended, for which update is
	 * refused; within 3 s. Fields: admin_comment, expected (what it is thought to be, or empty),
	 * user_id (of the job), array_job_id and array_task_id (of an array's task). EAGAIN: it is not
	 * as expected, and `out` has what it is, or nothing where slurmdbd does not have the job yet. ENOSYS: there is no slurmdbd, or none in this process's reach. */
	int (*amend)(uint32_t job_id, const char *const *fields, char *out, size_t capacity);
};

/* A request: size-versioned, with a vector of its facts.
 * Of every request: config (path of k8s.yaml), libexec (directory of podinit).
 * validate: option.NAME (as given: option.image, option.workdir), tool
 *   (sbatch, srun, salloc), sbatch.NAME (the tool's own options by their long
 *   names: sbatch.nodes, sbatch.output, sbatch.mem ...), directory, uid; of
 *   sbatch, script (absolute path of the job file; absent with stdin=1 or
 *   wrap=TEXT), head (what of a stdin job file could still be read), component (its number,
 *   of those after the first of a heterogeneous job, which have no script: none of these).
 * start: state (folder that is root's own, for what the steps of this node share), option.NAME, legacy (1: the options stood in comment lines),
 *   legacy_script (path from K8S_SCRIPT, where the job file has no command of
 *   its own), job_id, step_id ("batch" or a number), uid, gid, groups (numbers,
 *   comma between), user, home, cluster (Slurm's ClusterName), node
 *   (NodeName), cpus and memory_mb (of this step on this node), nnodes (of the
 *   step), node_id (this node's number in the step), tasks (local), cpu_bind (1: srun was told how
 *   to bind tasks to cpus), component (its number, of
 *   several in one step; each counts its nodes and tasks for itself), batch_argv0 (path of the
 *   batch script on this node), commands (1: the last socket is that of Slurm's commands in the
 *   Pod, whose other end the first task's relay has).
 * reap: job_id, uid, cluster, node, batch (1: the batch script's Pod may be there),
 *   step (STEP.NODE_ID, of a component STEP.NODE_ID.COMPONENT, of each other Pod that may be
 *   there; repeated). */
struct k8s_request {
	size_t size;
	const char *const *fields;
};

/* K8S_CORE_ABI of the library. The host refuses another number. It returns once Go has
 * begun: what that did to the process (RLIMIT_NOFILE) can be undone from then on. */
int k8s_core_abi(void);

/* Checks a submission, as the user. Within 3 s.
 * 0: may be submitted, `text` has warnings, a line each, or is empty;
 * 1: refused, `text` has every fault, a line each. */
int k8s_core_validate(const struct k8s_host *host, const struct k8s_request *request, char *text, size_t capacity);

/* Takes over `count` relay sockets (local task 0 first, see also commands; the core closes them) and
 * runs the step. Returns at once: a handle > 0, also where the core has a fault to
 * tell, which it tells to the relays; 0 when it could not even do that: then the
 * sockets are still the host's. Root. */
int k8s_core_start(const struct k8s_host *host, const struct k8s_request *request, const int *relays, size_t count,
		   char *text, size_t capacity);

/* Ends the step: removes its Pod, waits for that at most `seconds` (of which
 * nothing is spent when the Pod is gone already). 0: nothing is left; 1: something
 * is left for the epilog or the collector, `text` names it. The handle is gone. */
int k8s_core_finish(int handle, unsigned seconds, char *text, size_t capacity);

/* Removes what the job left from this Slurm node, in at most `seconds`; root, in a
 * process of its own. 0: nothing is left, 1: `text` says what. */
int k8s_core_reap(const struct k8s_host *host, const struct k8s_request *request, unsigned seconds, char *text,
		  size_t capacity);

#endif
