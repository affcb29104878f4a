// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
/* What the shim asks of slurmdbd, with one that is not there. */
#include "spank_host.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <slurm/slurmdb.h>

#include "../../spank/amend.h"
#include "../../spank/host.h"

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)

static void test_not_with_this_release(void **state)
{
	const char *const fields[] = { "admin_comment=x", "expected=", "user_id=1000", NULL };
	char out[16] = "x";

	(void)state;
	assert_int_equal(host_table()->amend(42, fields, out, sizeof(out)), ENOSYS);
	assert_string_equal(out, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_not_with_this_release, fake_reset, fake_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

struct list {
	void *items[4];
	int count;
	bool owns;
};

static struct {
	int listener;
	slurm_conf_t conf;
	int open_errno, rows, changed, commit_rc, modify_errno;
	uint32_t row_job;
	const char *comment; /* in the row */
	const char *missing; /* a symbol that is not there */
	bool hangs;
	/* what was asked */
	slurm_selected_step_t job;
	char cluster[32], user[16], written[64];
	uint32_t flags;
	int opened, closed, asked, committed;
} dbd;

static void *fake_create(ListDelF destroy)
{
	assert_null(destroy);
	return calloc(1, sizeof(struct list));
}

static void *fake_append(void *list, void *item)
{
	struct list *l = list;

	return l->items[l->count++] = item;
}

static int fake_count(void *list)
{
	return ((struct list *)list)->count;
}

static void *fake_pop(void *list)
{
	struct list *l = list;

	return l->count ? l->items[--l->count] : NULL;
}

static void fake_drop(void *list)
{
	free(list);
}

static void fake_destroy(void *list)
{
	struct list *l = list;

	for (int i = 0; l->owns && i < l->count; i++)
		free(l->items[i]);
	free(l);
}

static void *fake_open(uint16_t *flags)
{
	assert_non_null(flags);
	dbd.opened++;
	while (dbd.hangs)
		usleep(10000);
	errno = dbd.open_errno;
	return &dbd;
}

static int fake_close(void **connection)
{
	assert_ptr_equal(*connection, &dbd);
	dbd.closed++;
	return 0;
}

static int fake_commit(void *connection, bool commit)
{
	assert_ptr_equal(connection, &dbd);
	dbd.committed = commit ? 1 : -1;
	errno = EIO;
	return dbd.commit_rc;
}

static void note(slurmdb_job_cond_t *condition)
{
	dbd.job = *(slurm_selected_step_t *)((struct list *)condition->step_list)->items[0];
	strcpy(dbd.cluster, ((struct list *)condition->cluster_list)->items[0]);
	strcpy(dbd.user, ((struct list *)condition->userid_list)->items[0]);
	dbd.flags = condition->flags;
}

static void *fake_jobs(void *connection, slurmdb_job_cond_t *condition)
{
	struct list *rows = fake_create(NULL);

	assert_ptr_equal(connection, &dbd);
	dbd.asked++;
	note(condition);
	rows->owns = true;
	for (int i = 0; i < dbd.rows; i++) {
		slurmdb_job_rec_t *row = calloc(1, sizeof(*row));

		row->jobid = dbd.row_job;
		row->admin_comment = (char *)dbd.comment;
		fake_append(rows, row);
	}
	return rows;
}

static void *fake_modify(void *connection, slurmdb_job_cond_t *condition, slurmdb_job_rec_t *wanted)
{
	struct list *changed;

	assert_ptr_equal(connection, &dbd);
	note(condition);
	assert_true(wanted->derived_ec == NO_VAL && !wanted->system_comment && !wanted->wckey && !wanted->derived_es);
	strcpy(dbd.written, wanted->admin_comment);
	errno = dbd.modify_errno;
	if (errno)
		return NULL;
	changed = fake_create(NULL);
	changed->count = dbd.changed;
	return changed;
}

static void *symbols(const char *name)
{
	static const struct {
		const char *name;
		void *address;
	} all[] = {
		{ "slurm_conf", &dbd.conf }, { "slurmdb_connection_get", fake_open },
		{ "slurmdb_connection_close", fake_close }, { "slurmdb_connection_commit", fake_commit },
		{ "slurmdb_jobs_get", fake_jobs }, { "slurmdb_job_modify", fake_modify },
		{ "slurm_list_create", fake_create }, { "slurm_list_append", fake_append },
		{ "slurm_list_count", fake_count }, { "slurm_list_pop", fake_pop },
		{ "slurm_list_destroy", fake_destroy }, { "slurmdb_destroy_job_rec", fake_drop },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(name, all[i].name) && (!dbd.missing || strcmp(name, dbd.missing)))
			return all[i].address;
	return NULL;
}

static int begin(void **state)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(address);

	fake_reset(state);
	memset(&dbd, 0, sizeof(dbd));
	dbd.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(dbd.listener, (struct sockaddr *)&address, length), 0);
	assert_int_equal(listen(dbd.listener, 8), 0);
	assert_int_equal(getsockname(dbd.listener, (struct sockaddr *)&address, &length), 0);
	dbd.conf = (slurm_conf_t){ .cluster_name = "testcluster", .accounting_storage_host = "127.0.0.1",
				   .accounting_storage_port = ntohs(address.sin_port),
				   .accounting_storage_type = "accounting_storage/slurmdbd" };
	dbd.rows = dbd.changed = 1;
	dbd.row_job = 42;
	host.more_symbols = symbols;
	return 0;
}

static int end(void **state)
{
	if (dbd.listener >= 0)
		close(dbd.listener);
	return fake_end(state);
}

static char out[64];

static int amend_as(const char *expected)
{
	const char *const fields[] = { "admin_comment={\"a\":\"b=c\"}", expected, "user_id=1000", NULL };

	return host_table()->amend(42, fields, out, sizeof(out));
}

static void test_amend(void **state)
{
	(void)state;
	assert_int_equal(amend_as("expected="), 0);
	assert_string_equal(dbd.written, "{\"a\":\"b=c\"}");
	assert_int_equal(dbd.committed, 1);
	assert_int_equal(dbd.closed, 1);
	assert_int_equal(dbd.job.step_id.job_id, 42);
	assert_int_equal(dbd.job.array_task_id, NO_VAL);
	assert_int_equal(dbd.job.het_job_offset, NO_VAL);
	assert_string_equal(dbd.cluster, "testcluster");
	assert_string_equal(dbd.user, "1000");
	/* A heterogeneous job's other components have its first one's number. */
	assert_true(dbd.flags & JOBCOND_FLAG_NO_WHOLE_HETJOB);
	dbd.comment = "before";
	assert_int_equal(amend_as("expected=before"), 0);
}

static void test_of_an_array(void **state)
{
	const char *const fields[] = { "admin_comment=x", "expected=", "user_id=1000", "array_job_id=40", "array_task_id=3", NULL };

	(void)state;
	assert_int_equal(host_table()->amend(42, fields, out, sizeof(out)), 0);
	assert_int_equal(dbd.job.step_id.job_id, 40);
	assert_int_equal(dbd.job.array_task_id, 3);
}

static void test_something_else_is_there(void **state)
{
	char small[4];
	const char *const fields[] = { "admin_comment=x", "expected=", "user_id=1", NULL };

	(void)state;
	dbd.comment = "theirs";
	assert_int_equal(amend_as("expected="), EAGAIN);
	assert_string_equal(out, "theirs");
	assert_string_equal(dbd.written, "");
	assert_int_equal(dbd.closed, 1);
	assert_int_equal(host_table()->amend(42, fields, small, sizeof(small)), ENOSPC);
	dbd.comment = NULL;
	assert_int_equal(amend_as("expected=mine"), EAGAIN);
	assert_string_equal(out, "");
	dbd.rows = 0;
	assert_int_equal(amend_as("expected="), EAGAIN);
	assert_string_equal(out, "");
}

/* Whatever slurmdbd finds, no other job is changed. */
static void test_not_another_job(void **state)
{
	(void)state;
	dbd.rows = 2;
	assert_int_equal(amend_as("expected="), ESLURM_INVALID_JOB_ID);
	dbd.rows = 1;
	dbd.row_job = 43;
	assert_int_equal(amend_as("expected="), ESLURM_INVALID_JOB_ID);
	assert_string_equal(dbd.written, "");
	dbd.row_job = 42;
	dbd.changed = 2;
	assert_int_equal(amend_as("expected="), ESLURM_INVALID_JOB_ID);
	assert_int_equal(dbd.committed, -1);
	dbd.changed = 0;
	assert_int_equal(amend_as("expected="), ESLURM_INVALID_JOB_ID);
	assert_int_equal(dbd.committed, -1);
	assert_int_equal(dbd.closed, dbd.opened);
}

static void test_errors(void **state)
{
	(void)state;
	dbd.modify_errno = ESLURM_ACCESS_DENIED;
	assert_int_equal(amend_as("expected="), ESLURM_ACCESS_DENIED);
	dbd.modify_errno = 0;
	dbd.commit_rc = -1;
	assert_int_equal(amend_as("expected="), EIO);
	dbd.asked = 0;
	dbd.open_errno = ECONNREFUSED;
	assert_int_equal(amend_as("expected="), ECONNREFUSED);
	assert_int_equal(dbd.asked, 0);
	assert_int_equal(dbd.closed, dbd.opened);
}

/* Slurm is not even asked: it would say so in the job's output. */
static void test_no_slurmdbd(void **state)
{
	static const char *const needed[] = { "slurm_conf", "slurmdb_job_modify", "slurm_list_pop", "slurmdb_destroy_job_rec" };

	(void)state;
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		dbd.missing = needed[i];
		assert_int_equal(amend_as("expected="), ENOSYS);
	}
	dbd.missing = NULL;
	dbd.conf.accounting_storage_type = "accounting_storage/none";
	assert_int_equal(amend_as("expected="), ENOSYS);
	dbd.conf.accounting_storage_type = "accounting_storage/slurmdbd";
	close(dbd.listener);
	dbd.listener = -1;
	assert_int_equal(amend_as("expected="), EHOSTUNREACH);
	dbd.conf.accounting_storage_host = NULL;
	assert_int_equal(amend_as("expected="), EHOSTUNREACH);
	assert_int_equal(dbd.opened, 0);
}

static void test_backup(void **state)
{
	(void)state;
	dbd.conf.accounting_storage_host = "256.256.256.256";
	dbd.conf.accounting_storage_backup_host = "127.0.0.1";
	assert_int_equal(amend_as("expected="), 0);
}

/* The host named "both" has an address of IPv6 before that of IPv4. */
int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found)
{
	__typeof__(getaddrinfo) *real = (__typeof__(getaddrinfo) *)dlsym(RTLD_NEXT, "getaddrinfo");
	int error;

	if (strcmp(name, "both"))
		return real(name, service, hints, found);
	error = real("::1", service, hints, found);
	return error ? error : real("127.0.0.1", service, hints, &(*found)->ai_next);
}

/* Slurm listens on IPv4 alone, unless told otherwise (EnableIPv6). */
static void test_several_addresses(void **state)
{
	(void)state;
	dbd.conf.accounting_storage_host = "both";
	assert_int_equal(amend_as("expected="), 0);
}

static void test_fields(void **state)
{
	const char *bad[] = { "user_id=-1", "user_id=", "user_id=1x", "array_job_id=x", "array_task_id=4294967296", "rubbish", "admin_commentary=x" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *const fields[] = { "admin_comment=x", "expected=", "user_id=1", bad[i], NULL };

		assert_int_equal(host_table()->amend(42, fields, out, sizeof(out)), EINVAL);
	}
	for (int missing = 0; missing < 3; missing++) {
		const char *fields[] = { "admin_comment=x", "expected=", "user_id=1", NULL };

		for (int i = missing; i < 3; i++)
			fields[i] = fields[i + 1];
		assert_int_equal(host_table()->amend(42, fields, out, sizeof(out)), EINVAL);
	}
	assert_int_equal(dbd.opened, 0);
}

static void test_a_slurmdbd_that_hangs(void **state)
{
	(void)state;
	dbd.hangs = true;
	assert_int_equal(amend_as("expected="), ETIMEDOUT);
	assert_string_equal(out, "");
	dbd.hangs = false;
	while (!__atomic_load_n(&dbd.closed, __ATOMIC_SEQ_CST)) /* nothing was freed under its feet */
		usleep(10000);
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_amend), T(test_of_an_array), T(test_something_else_is_there), T(test_not_another_job),
		T(test_errors), T(test_no_slurmdbd), T(test_backup), T(test_several_addresses), T(test_fields), T(test_a_slurmdbd_that_hangs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
