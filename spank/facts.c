// SPDX-License-Identifier: Apache-2.0
/* What slurmctld knows about a job, as the core wants it. */
#include <errno.h>
#include <pwd.h>
#include <stdbool.h>
#include <string.h>

#include "host.h"
#include "row.h"
#include "slurm_api.h"

/* By types of our own: of these slurm.h has no prototype, or not in every release, or with another
 * name for the list. */
typedef char *state_string(uint32_t state);
typedef int cpus_on_node(job_resources_t *resources, const char *node);
typedef void *list_create(const char *text);
typedef int list_find(void *list, const char *name);
typedef void list_destroy(void *list);

/* The place of `node` among the job's nodes, or -1. */
static int place_of(const job_info_t *job, const char *node)
{
	list_create *create = (list_create *)slurm_symbol("slurm_hostlist_create");
	list_find *find = (list_find *)slurm_symbol("slurm_hostlist_find");
	list_destroy *destroy = (list_destroy *)slurm_symbol("slurm_hostlist_destroy");
	void *list;
	int place;

	if (!node || !job->nodes || !create || !find || !destroy)
		return -1;
	list = create(job->nodes);
	if (!list)
		return -1;
	place = find(list, node);
	destroy(list);
	return place;
}

static void put_gres(struct row *row, const job_info_t *job, const char *node)
{
	int place = place_of(job, node);

	if (place >= 0 && (uint32_t)place < job->gres_detail_cnt && job->gres_detail_str)
		row_put_text(row, "gres", job->gres_detail_str[place]);
}

static void put_share(struct row *row, const job_info_t *job, const char *node, uint64_t memory_mb)
{
	cpus_on_node *on_node = (cpus_on_node *)slurm_symbol("slurm_job_cpus_allocated_on_node");
	int cpus = on_node && node && job->job_resrcs ? on_node(job->job_resrcs, node) : 0;

	if (cpus > 0)
		row_put(row, "cpus", "%d", cpus);
	if (memory_mb)
		row_put(row, "memory_mb", "%llu", (unsigned long long)memory_mb);
}

static void put_user(struct row *row, const job_info_t *job)
{
	char buffer[16384];
	struct passwd entry, *found = NULL;

	row_put(row, "user_id", "%u", job->user_id);
	row_put(row, "group_id", "%u", job->group_id);
	if (getpwuid_r(job->user_id, &entry, buffer, sizeof(buffer), &found) || !found) {
		row_put_text(row, "user_name", job->user_name);
		return;
	}
	row_put_text(row, "user_name", found->pw_name);
	row_put_text(row, "home", found->pw_dir);
}

static void put_state(struct row *row, const job_info_t *job)
{
	state_string *string = (state_string *)slurm_symbol("slurm_job_state_string");

	/* The flags would hide the state: a job that ends is always COMPLETING too. */
	if (string)
		row_put_text(row, "state", string(job->job_state & JOB_STATE_BASE));
	row_put(row, "completing", "%d", job->job_state & JOB_COMPLETING ? 1 : 0);
}

static void put_job(struct row *row, const job_info_t *job, const char *node, uint64_t memory_mb)
{
	put_user(row, job);
	row_put_text(row, "account", job->account);
	row_put_text(row, "partition", job->partition);
	row_put_text(row, "qos", job->qos);
	row_put_text(row, "name", job->name);
	row_put(row, "restart_count", "%u", job->restart_cnt);
	row_put(row, "requeue", "%d", job->requeue ? 1 : 0);
	if (job->time_limit == INFINITE)
		row_put_text(row, "time_limit", "UNLIMITED");
	else if (job->time_limit != NO_VAL)
		row_put(row, "time_limit", "%u", job->time_limit);
	row_put(row, "exclusive", "%d", job->shared == JOB_SHARED_NONE ? 1 : 0);
	row_put(row, "nodes", "%u", job->num_nodes);
	/* --mem=0 asks for all of a node's memory, whatever that is. */
	row_put(row, "whole_memory", "%d", (job->pn_min_memory & ~MEM_PER_CPU) == 0);
	if (job->array_task_id != NO_VAL) {
		row_put(row, "array_job_id", "%u", job->array_job_id);
		row_put(row, "array_task_id", "%u", job->array_task_id);
	}
	row_put_text(row, "tres", job->tres_alloc_str);
	put_gres(row, job, node);
	put_share(row, job, node, memory_mb);
	row_put_text(row, "admin_comment", job->admin_comment);
	if (job->batch_flag)
		row_put_text(row, "batch_host", job->batch_host);
	put_state(row, job);
}

int host_job_facts(uint32_t job_id, char *out, size_t capacity, const char *node, uint64_t memory_mb)
{
	__typeof__(slurm_load_job) *load = SLURM_CALL(slurm_load_job);
	__typeof__(slurm_free_job_info_msg) *release = SLURM_CALL(slurm_free_job_info_msg);
	struct row row = row_begin(out, capacity);
	job_info_msg_t *answer = NULL;
	bool found = false;
	int result;

	if (!load || !release)
		return ENOSYS;
	/* SHOW_LOCAL: else slurm_load_job first asks slurmctld for the federation (src/api/job_info.c). */
	result = load(&answer, job_id, SHOW_DETAIL | SHOW_LOCAL);
	if (result)
		return host_error(result);
	for (uint32_t i = 0; answer && i < answer->record_count && !found; i++)
		if (answer->job_array[i].job_id == job_id) {
			put_job(&row, &answer->job_array[i], node, memory_mb);
			found = true;
		}
	release(answer);
	if (!found)
		return ESLURM_INVALID_JOB_ID;
	return row_end(&row);
}
