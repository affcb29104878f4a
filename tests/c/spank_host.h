/* SPDX-License-Identifier: Apache-2.0 */
/* spank_host.h - a Slurm that is not there: every spank_* and slurm_* call of the shim, and what a
 * test wants to know about them. Link-time: the shim's own slurm_api.c is left out. */
#ifndef SPANK_HOST_H
#define SPANK_HOST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/resource.h>

#include "../../spank/slurm_api.h"
#include "spank_core.h"

#define FAKE_MAX 32

/* The hooks, as Slurm looks them up. */
int slurm_spank_init(spank_t spank, int argc, char **argv);
int slurm_spank_init_post_opt(spank_t spank, int argc, char **argv);
int slurm_spank_task_init(spank_t spank, int argc, char **argv);
int slurm_spank_task_post_fork(spank_t spank, int argc, char **argv);
int slurm_spank_exit(spank_t spank, int argc, char **argv);
int slurm_spank_job_epilog(spank_t spank, int argc, char **argv);

struct fake_pair {
	char *name, *value;
};

struct fake_host {
	spank_context_t context;
	bool items_fail; /* spank_get_item answers nothing */
	uint32_t job, step, tasks, nodes, node;
	uint16_t cpus;
	uint64_t step_memory, job_memory;
	uid_t uid;
	gid_t gid, gids[4];
	int gid_count, task;
	char *argv[4];
	struct fake_pair env[FAKE_MAX];	    /* of the job */
	struct fake_pair control[FAKE_MAX]; /* job control environment */
	struct spank_option *options[FAKE_MAX];
	int option_count;
	bool setenv_fails, register_fails;
	const char *epilog_image; /* what spank_option_getopt finds */
	char log[16384];	  /* of all slurm_error, with "E ", and slurm_info, with "I " */
	bool is_sbatch, has_prepend;
	struct fake_pair tool[FAKE_MAX]; /* slurm_option_get */
	int option_set_rc;
	const char *prepended[4];
	/* slurmctld */
	job_info_t job_info;
	int load_rc, requeue_rc, update_rc, complete_rc, fake_errno;
	uint32_t requeued, completed, completed_code;
	job_step_info_t step_info;
	uint32_t asked_step, ended_job, ended_step;
	int steps_rc, end_rc, end_signal;
	job_desc_msg_t updated;
	char updated_comment[128];
	char **hostlist;
	int cpus_on_node;
	uid_t process_uid; /* what getuid and geteuid say; (uid_t)-1: the truth */
	int dlopens;
	bool was_deaf; /* at the last of them: signals were blocked */
	int limit; /* the one resource that getrlimit calls limited, to `limit_value`; -1 for none */
	rlim_t limit_value;
	void *(*more_symbols)(const char *name); /* looked up first */
	char executed[4096]; /* of an execve, which fails */
	int threads_left; /* how many threads may be made; -1: any number */
};

extern struct fake_host host;

/* A fresh host and shim. For setup of each test. */
int fake_reset(void **state);

/* What fake_reset left, freed; fails the test that left a file descriptor open. */
int fake_end(void **state);

/* Hands the plugin the value of an option, as Slurm does. Returns the callback's result. */
int fake_option(const char *name, const char *value, int remote);

/* The value of a variable in the job's environment, in the job control environment; NULL. */
const char *fake_env(const char *name);
const char *fake_control(const char *name);
void fake_set(struct fake_pair *pairs, const char *name, const char *value);
const char *fake_find_pair(const struct fake_pair *pairs, const char *name);

/* The folder of the tests' own files, made for this test, and removed after it. */
extern char fake_folder[64];

/* Writes `text` to a file in that folder; returns its path, static until the fourth call. */
char *fake_file(const char *name, const char *text);

/* Arguments of the plugin as in plugstack.conf: site file and libexec in that folder, and a fake
 * core of the kind `core` (spank_core.c) there: "ok", "abi", "hole", or NULL for none. */
void fake_install(const char *core);
/* The fake core of kind "ok", its struct fresh; start answers 7. Not counted as a load. */
struct fake_core *fake_core_ok(void);
extern int fake_argc;
extern char *fake_argv[5];

/* An opaque handle for the calls. */
#define SP ((spank_t)&host)

/* Whether the log has this text. */
#define assert_logged(text) assert_non_null(strstr(host.log, text))
#define assert_not_logged(text) assert_null(strstr(host.log, text))

#endif
