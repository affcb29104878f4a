// SPDX-License-Identifier: Apache-2.0
/* Slurm's accounting, as sacctmgr uses it. slurmctld takes no AdminComment for a job that has ended
 * (_update_job in its job_mgr.c), and jobs that are cancelled or out of time have ended before their
 * processes do. sacct shows what slurmdbd has. */
#define _GNU_SOURCE
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "amend.h"
#include "slurm_api.h"

#include <slurm/slurmdb.h>

/* Later releases lead slurmstepd's accounting to slurmctld (accounting_storage/ctld_relay), which
 * has no such request. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
int accounting_amend(struct amendment *amendment)
{
	(void)amendment;
	return ENOSYS;
}
#else

#define REACH_MS 1000

/* All of Slurm's that is needed, or nothing is begun. */
struct calls {
	__typeof__(slurmdb_connection_get) *open;
	__typeof__(slurmdb_connection_close) *close;
	__typeof__(slurmdb_connection_commit) *commit;
	__typeof__(slurmdb_jobs_get) *jobs;
	__typeof__(slurmdb_job_modify) *modify;
	__typeof__(slurm_list_create) *create;
	__typeof__(slurm_list_append) *append;
	__typeof__(slurm_list_count) *count;
	__typeof__(slurm_list_pop) *pop;
	__typeof__(slurm_list_destroy) *destroy;
	__typeof__(slurmdb_destroy_job_rec) *destroy_job;
};

static bool look_up(struct calls *calls)
{
	*calls = (struct calls){
		.open = SLURM_CALL(slurmdb_connection_get), .close = SLURM_CALL(slurmdb_connection_close),
		.commit = SLURM_CALL(slurmdb_connection_commit), .jobs = SLURM_CALL(slurmdb_jobs_get),
		.modify = SLURM_CALL(slurmdb_job_modify), .create = SLURM_CALL(slurm_list_create),
		.append = SLURM_CALL(slurm_list_append), .count = SLURM_CALL(slurm_list_count),
		.pop = SLURM_CALL(slurm_list_pop), .destroy = SLURM_CALL(slurm_list_destroy),
		.destroy_job = SLURM_CALL(slurmdb_destroy_job_rec),
	};
	for (size_t i = 0; i < sizeof(*calls) / sizeof(void *); i++)
		if (!((void **)calls)[i])
			return false;
	return true;
}

static bool connects(const struct addrinfo *address)
{
	struct pollfd wait = { .events = POLLOUT };
	socklen_t length = sizeof(int);
	int error = 0;

	wait.fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (wait.fd < 0)
		return false;
	if (connect(wait.fd, address->ai_addr, address->ai_addrlen))
		error = errno == EINPROGRESS && poll(&wait, 1, REACH_MS) == 1 &&
			!getsockopt(wait.fd, SOL_SOCKET, SO_ERROR, &error, &length) ? error : ETIMEDOUT;
	close(wait.fd);
	return !error;
}

/* Slurm says what it cannot reach on stderr, which is the job's, and tries for long. */
static bool is_reachable(const char *host, uint16_t port)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *addresses = NULL;
	char service[8];
	bool found = false;

	snprintf(service, sizeof(service), "%u", port);
	if (!host || getaddrinfo(host, service, &hints, &addresses))
		return false;
	for (const struct addrinfo *address = addresses; address && !found; address = address->ai_next)
		found = connects(address);
	freeaddrinfo(addresses);
	return found;
}

/* Numbers of jobs come again: slurmdbd gives the newest, and the user must be the same. */
static void narrow(slurmdb_job_cond_t *condition, const struct amendment *amendment, slurm_selected_step_t *job)
{
	/* A task of an array is named by that: its own number may be the whole array's. */
	job->step_id.job_id = amendment->array_job ? amendment->array_job : amendment->job;
	job->array_task_id = amendment->array_job ? amendment->array_task : NO_VAL;
	job->het_job_offset = NO_VAL;
	job->step_id.step_id = NO_VAL;
	job->step_id.step_het_comp = NO_VAL;
	condition->db_flags = SLURMDB_JOB_FLAG_NOTSET;
	condition->flags = JOBCOND_FLAG_NO_DEFAULT_USAGE | JOBCOND_FLAG_NO_STEP | JOBCOND_FLAG_NO_WHOLE_HETJOB;
}

/* Compares, and remembers what is there. */
static int compare(struct amendment *amendment, const slurmdb_job_rec_t *row)
{
	const char *present = row->admin_comment ? row->admin_comment : "";

	if (row->jobid != amendment->job)
		return ESLURM_INVALID_JOB_ID;
	if (!strcmp(present, amendment->expected))
		return 0;
	amendment->present = strdup(present);
	return EAGAIN;
}

static int look(const struct calls *calls, void *connection, slurmdb_job_cond_t *condition, struct amendment *amendment)
{
	List rows = calls->jobs(connection, condition);
	slurmdb_job_rec_t *row;
	int result = ESLURM_INVALID_JOB_ID;

	if (!rows)
		return errno > 0 ? errno : EIO;
	if (calls->count(rows) == 0) { /* slurmctld tells of a new job only every few seconds */
		result = EAGAIN;
	} else if (calls->count(rows) == 1) {
		row = calls->pop(rows);
		result = compare(amendment, row);
		calls->destroy_job(row);
	}
	calls->destroy(rows);
	return result;
}

static int change(const struct calls *calls, void *connection, slurmdb_job_cond_t *condition, const char *comment)
{
	slurmdb_job_rec_t wanted = { .derived_ec = NO_VAL, .array_task_id = NO_VAL, .requid = (uint32_t)-1, .lft = NO_VAL,
				     .resvid = NO_VAL, .admin_comment = (char *)comment };
	List changed = calls->modify(connection, condition, &wanted);
	bool is_one;
	int error = errno;

	if (!changed)
		return error > 0 ? error : EIO;
	is_one = calls->count(changed) == 1;
	calls->destroy(changed);
	/* Never another job beside it. */
	if (calls->commit(connection, is_one))
		return errno > 0 ? errno : EIO;
	return is_one ? 0 : ESLURM_INVALID_JOB_ID;
}

static void drop(const struct calls *calls, List list)
{
	if (list)
		calls->destroy(list);
}

static int with_connection(const struct calls *calls, void *connection, struct amendment *amendment)
{
	const slurm_conf_t *conf = slurm_symbol("slurm_conf");
	slurmdb_job_cond_t condition = { 0 };
	slurm_selected_step_t job = { 0 };
	int result = ENOMEM;

	narrow(&condition, amendment, &job);
	condition.step_list = calls->create(NULL);
	condition.cluster_list = calls->create(NULL);
	condition.userid_list = calls->create(NULL);
	if (condition.step_list && condition.cluster_list && condition.userid_list) {
		calls->append(condition.step_list, &job);
		calls->append(condition.cluster_list, conf->cluster_name);
		calls->append(condition.userid_list, amendment->user);
		result = look(calls, connection, &condition, amendment);
		if (!result)
			result = change(calls, connection, &condition, amendment->comment);
	}
	drop(calls, condition.step_list);
	drop(calls, condition.cluster_list);
	drop(calls, condition.userid_list);
	return result;
}

int accounting_amend(struct amendment *amendment)
{
	const slurm_conf_t *conf = slurm_symbol("slurm_conf");
	struct calls calls;
	void *connection;
	uint16_t flags = 0;
	int result;

	if (!conf || !conf->cluster_name || !conf->accounting_storage_type || !look_up(&calls) ||
	    strcmp(conf->accounting_storage_type, "accounting_storage/slurmdbd"))
		return ENOSYS;
	if (!is_reachable(conf->accounting_storage_host, conf->accounting_storage_port) &&
	    !is_reachable(conf->accounting_storage_backup_host, conf->accounting_storage_port))
		return EHOSTUNREACH;
	errno = 0;
	connection = calls.open(&flags);
	if (!connection)
		return errno > 0 ? errno : EIO;
	/* It gives one also where that did not work, and says so in errno. */
	result = errno > 0 ? errno : with_connection(&calls, connection, amendment);
	calls.close(&connection);
	return result;
}
#endif
