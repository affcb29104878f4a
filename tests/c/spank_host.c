// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "spank_host.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../spank/arguments.h"
#include "../../spank/component_options.h"
#include "../../spank/components.h"
#include "../../spank/config.h"
#include "../../spank/core.h"
#include "../../spank/host.h"
#include "../../spank/launch.h"
#include "../../spank/options.h"
#include "../../spank/step.h"
#include "../../spank/submit.h"

struct fake_host host;
char fake_folder[64];
int fake_argc;
char *fake_argv[5];
static int open_before;

/* ---- what a test asks for ---- */

static int count_open(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

static void free_pairs(struct fake_pair *pairs)
{
	for (int i = 0; i < FAKE_MAX; i++) {
		free(pairs[i].name);
		free(pairs[i].value);
	}
	memset(pairs, 0, FAKE_MAX * sizeof(*pairs));
}

static void forget_shim(void)
{
	step_forget();
	options_forget();
	config_forget();
	core_forget();
	submit_forget();
	launch_forget();
	components_forget();
	component_forget();
	host_set_step(&(struct host_step){ .component = -1 });
	for (int i = 0; i < fake_argc; i++)
		free(fake_argv[i]);
	fake_argc = 0;
}

int fake_reset(void **state)
{
	static char *no_words[] = { "sbatch", NULL };
	static const char *const variables[] = {
		"SLURM_K8S_IMAGE",
		"SLURM_K8S_WORKDIR",
		"SLURM_K8S_SCOPE",
		"SLURM_K8S_RENDEZVOUS",
		"SLURM_K8S_NODE_SELECTOR",
		"SLURM_K8S_PULL_SECRET",
		"SLURM_K8S_MOUNT",
		"SLURM_K8S_PVC",
		"SLURM_K8S_SCRIPT",
		"SLURM_K8S_STEP",
		"SLURM_K8S_INSIDE_IMAGE",
		"SLURM_K8S_INSIDE_DIRECTORY",
		"SLURM_K8S_COMPONENT",
		"SLURM_K8S_IMAGE_HET_GROUP_1",
		"SLURM_K8S_IMAGE_HET_GROUP_2",
		"SLURM_K8S_WORKDIR_HET_GROUP_1",
		"SLURM_K8S_WORKDIR_HET_GROUP_2",
		"SLURM_JOB_ID",
		"_SLURM_SPANK_OPTION_k8s_k8s_image",
		"_SLURM_SPANK_OPTION_k8s_k8s_workdir",
		"_SLURM_SPANK_OPTION_k8s_k8s_scope",
		"_SLURM_SPANK_OPTION_k8s_k8s_rendezvous",
		"_SLURM_SPANK_OPTION_k8s_k8s_node_selector",
		"_SLURM_SPANK_OPTION_k8s_k8s_pull_secret",
		"_SLURM_SPANK_OPTION_k8s_k8s_mount",
		"_SLURM_SPANK_OPTION_k8s_k8s_pvc",
		"SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_image",
		"SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_workdir",
		"SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_scope",
		"SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_rendezvous",
		"SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_node_selector",
		"SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_pull_secret",
		"SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_mount",
		"SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_pvc",
		"_SLURM_SPANK_OPTION_k8s_k8s_join",
		"SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_join",
		"SLURM_K8S_JOIN",
	};

	(void)state;
	memset(&host, 0, sizeof(host));
	forget_shim();
	arguments_set(1, no_words);
	optind = 1;
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		unsetenv(variables[i]);
	setenv("SLURMD_NODENAME", "n1", 1);
	strcpy(fake_folder, "/tmp/spank-test.XXXXXX");
	assert_non_null(mkdtemp(fake_folder));
	host.process_uid = (uid_t)-1;
	host.limit = host.threads_left = -1;
	host.job = 42;
	host.step = SLURM_BATCH_SCRIPT;
	host.tasks = 1;
	host.cpus = 4;
	host.step_memory = 900;
	host.job_memory = 1000;
	host.uid = 1234;
	host.gid = 1235;
	host.gids[0] = 1235;
	host.gids[1] = 77;
	host.gid_count = 2;
	host.is_sbatch = true;
	open_before = count_open();
	return 0;
}

int fake_end(void **state)
{
	char command[128];
	int opened;

	(void)state;
	forget_shim();
	free_pairs(host.env);
	free_pairs(host.control);
	free_pairs(host.tool);
	snprintf(command, sizeof(command), "rm -rf %s", fake_folder);
	if (system(command))
		return -1;
	opened = count_open() - open_before;
	/* A loaded core keeps none open either. */
	if (opened > 0)
		fprintf(stderr, "%d file descriptors left open\n", opened);
	return opened > 0 ? -1 : 0;
}

void fake_set(struct fake_pair *pairs, const char *name, const char *value)
{
	int i = 0;

	while (pairs[i].name && strcmp(pairs[i].name, name))
		i++;
	assert_true(i < FAKE_MAX - 1);
	free(pairs[i].name);
	free(pairs[i].value);
	pairs[i].name = strdup(name);
	pairs[i].value = value ? strdup(value) : NULL;
}

static const char *lookup(const struct fake_pair *pairs, const char *name)
{
	for (int i = 0; i < FAKE_MAX; i++)
		if (pairs[i].name && !strcmp(pairs[i].name, name))
			return pairs[i].value;
	return NULL;
}

const char *fake_env(const char *name)
{
	return lookup(host.env, name);
}

const char *fake_control(const char *name)
{
	return lookup(host.control, name);
}

int fake_option(const char *name, const char *value, int remote)
{
	for (int i = 0; i < host.option_count; i++)
		if (!strcmp(host.options[i]->name, name))
			return host.options[i]->cb(host.options[i]->val, value, remote);
	fail_msg("no option %s", name);
	return -1;
}

char *fake_file(const char *name, const char *text)
{
	static char paths[4][PATH_MAX];
	static int next;
	char *path = paths[next++ % 4];
	FILE *file;

	snprintf(path, PATH_MAX, "%s/%s", fake_folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	return path;
}

static char *argument(const char *key, const char *name)
{
	char text[256];

	snprintf(text, sizeof(text), "%s=%s/%s", key, fake_folder, name);
	return strdup(text);
}

void fake_install(const char *core)
{
	char from[PATH_MAX], path[PATH_MAX];

	fake_argv[0] = argument("config", "k8s.yaml");
	fake_argv[1] = argument("libexec", "libexec");
	fake_argv[2] = argument("state", "state");
	fake_argc = 3;
	snprintf(path, sizeof(path), "%s/libexec", fake_folder);
	assert_false(mkdir(path, 0755));
	snprintf(path, sizeof(path), "%s", fake_file("libexec/relay", "#!/bin/true\n"));
	assert_false(chmod(path, 0755));
	if (!core)
		return;
	snprintf(from, sizeof(from), "%s/gocore-%s.so", getenv("SPANK_CORES"), core);
	assert_non_null(realpath(from, path));
	snprintf(from, sizeof(from), "%s/libexec/gocore.so", fake_folder);
	assert_false(symlink(path, from));
}

/* ---- the process ---- */

void *__real_dlopen(const char *path, int flags);
void *__wrap_dlopen(const char *path, int flags);
void *__wrap_dlopen(const char *path, int flags)
{
	sigset_t blocked;

	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	host.was_deaf = sigismember(&blocked, SIGINT);
	host.dlopens++;
	return __real_dlopen(path, flags);
}

uid_t __real_getuid(void);
uid_t __wrap_getuid(void);
uid_t __wrap_getuid(void)
{
	return host.process_uid == (uid_t)-1 ? __real_getuid() : host.process_uid;
}

uid_t __real_geteuid(void);
uid_t __wrap_geteuid(void);
uid_t __wrap_geteuid(void)
{
	return host.process_uid == (uid_t)-1 ? __real_geteuid() : host.process_uid;
}

/* glibc declares the first argument as an enum. */
int __real_getrlimit(int resource, struct rlimit *limit);
int __wrap_getrlimit(int resource, struct rlimit *limit);
int __wrap_getrlimit(int resource, struct rlimit *limit)
{
	if (resource == RLIMIT_NOFILE) /* what the core raises is put back for real */
		return __real_getrlimit(resource, limit);
	limit->rlim_cur = limit->rlim_max = resource == host.limit ? host.limit_value : RLIM_INFINITY;
	return 0;
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *argument)
{
	if (!host.threads_left)
		return EAGAIN;
	if (host.threads_left > 0)
		host.threads_left--;
	return __real_pthread_create(thread, how, run, argument);
}

struct fake_core *fake_core_ok(void)
{
	char path[PATH_MAX];
	struct fake_core *core;
	void *library;

	snprintf(path, sizeof(path), "%s/gocore-ok.so", getenv("SPANK_CORES"));
	library = __real_dlopen(path, RTLD_NOW);
	assert_non_null(library);
	core = dlsym(library, "fake_core");
	memset(core, 0, sizeof(*core));
	core->start_rc = 7;
	return core;
}

/* ---- spank ---- */

spank_context_t spank_context(void)
{
	return host.context;
}

const char *spank_strerror(spank_err_t error)
{
	return error == ESPANK_SUCCESS ? "success" : "fault";
}

spank_err_t spank_option_register(spank_t spank, struct spank_option *option)
{
	assert_ptr_equal(spank, SP);
	if (host.register_fails)
		return ESPANK_BAD_ARG;
	host.options[host.option_count++] = option;
	return ESPANK_SUCCESS;
}

spank_err_t spank_option_getopt(spank_t spank, struct spank_option *option, char **argument_out)
{
	(void)spank;
	/* As Slurm: only there. */
	if (host.context != S_CTX_JOB_SCRIPT)
		return ESPANK_NOT_AVAIL;
	if (!host.epilog_image || strcmp(option->name, "k8s-image"))
		return ESPANK_ERROR;
	*argument_out = (char *)host.epilog_image;
	return ESPANK_SUCCESS;
}

spank_err_t spank_getenv(spank_t spank, const char *name, char *buffer, int length)
{
	const char *value = fake_env(name);

	(void)spank;
	if (!value)
		return ESPANK_ENV_NOEXIST;
	snprintf(buffer, length, "%s", value);
	return strlen(value) >= (size_t)length ? ESPANK_NOSPACE : ESPANK_SUCCESS;
}

spank_err_t spank_setenv(spank_t spank, const char *name, const char *value, int overwrite)
{
	(void)spank;
	assert_int_equal(overwrite, 1);
	if (host.setenv_fails)
		return ESPANK_ERROR;
	fake_set(host.env, name, value);
	return ESPANK_SUCCESS;
}

spank_err_t spank_unsetenv(spank_t spank, const char *name)
{
	(void)spank;
	for (int i = 0; i < FAKE_MAX; i++)
		if (host.env[i].name && !strcmp(host.env[i].name, name))
			host.env[i].name[0] = '\0';
	return ESPANK_SUCCESS;
}

spank_err_t spank_job_control_unsetenv(spank_t spank, const char *name)
{
	(void)spank;
	fake_set(host.control, name, NULL);
	return ESPANK_SUCCESS;
}

spank_err_t spank_job_control_setenv(spank_t spank, const char *name, const char *value, int overwrite)
{
	(void)spank;
	assert_int_equal(overwrite, 1);
	if (host.setenv_fails)
		return ESPANK_ERROR;
	fake_set(host.control, name, value);
	return ESPANK_SUCCESS;
}

static char *env_vector[FAKE_MAX];
static char env_text[FAKE_MAX][512];

static char **vector_of_env(void)
{
	int n = 0;

	for (int i = 0; i < FAKE_MAX; i++)
		if (host.env[i].name && *host.env[i].name) {
			snprintf(env_text[n], sizeof(env_text[n]), "%s=%s", host.env[i].name, host.env[i].value);
			env_vector[n] = env_text[n];
			n++;
		}
	env_vector[n] = NULL;
	return env_vector;
}

static spank_err_t get_remote(spank_item_t item, va_list out)
{
	switch (item) {
	case S_JOB_GID:
		*va_arg(out, gid_t *) = host.gid;
		return ESPANK_SUCCESS;
	case S_JOB_STEPID:
		*va_arg(out, uint32_t *) = host.step;
		return ESPANK_SUCCESS;
	case S_JOB_NNODES:
		*va_arg(out, uint32_t *) = host.nodes;
		return ESPANK_SUCCESS;
	case S_JOB_NODEID:
		*va_arg(out, uint32_t *) = host.node;
		return ESPANK_SUCCESS;
	case S_JOB_LOCAL_TASK_COUNT:
		*va_arg(out, uint32_t *) = host.tasks;
		return ESPANK_SUCCESS;
	case S_JOB_NCPUS:
		*va_arg(out, uint16_t *) = host.cpus;
		return ESPANK_SUCCESS;
	case S_STEP_ALLOC_MEM:
		*va_arg(out, uint64_t *) = host.step_memory;
		return ESPANK_SUCCESS;
	case S_JOB_ALLOC_MEM:
		*va_arg(out, uint64_t *) = host.job_memory;
		return ESPANK_SUCCESS;
	case S_JOB_SUPPLEMENTARY_GIDS:
		*va_arg(out, gid_t **) = host.gids;
		*va_arg(out, int *) = host.gid_count;
		return ESPANK_SUCCESS;
	case S_JOB_ARGV:
		*va_arg(out, int *) = host.argv[0] ? 1 : 0;
		*va_arg(out, char ***) = host.argv;
		return ESPANK_SUCCESS;
	case S_JOB_ENV:
		*va_arg(out, char ***) = vector_of_env();
		return ESPANK_SUCCESS;
	case S_TASK_ID:
		*va_arg(out, int *) = host.task;
		return host.task < 0 ? ESPANK_NOT_TASK : ESPANK_SUCCESS;
	default:
		return ESPANK_BAD_ARG;
	}
}

spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...)
{
	spank_err_t error = ESPANK_SUCCESS;
	va_list out;

	assert_ptr_equal(spank, SP);
	if (host.items_fail || (host.context != S_CTX_REMOTE && host.context != S_CTX_JOB_SCRIPT))
		return ESPANK_NOT_AVAIL;
	va_start(out, item);
	if (item == S_JOB_ID)
		*va_arg(out, uint32_t *) = host.job;
	else if (item == S_JOB_UID)
		*va_arg(out, uid_t *) = host.uid;
	else
		error = host.context == S_CTX_REMOTE ? get_remote(item, out) : ESPANK_NOT_AVAIL;
	va_end(out);
	return error;
}

/* ---- slurm ---- */

static void add_log(const char *tag, const char *format, va_list arguments)
{
	size_t at = strlen(host.log);

	at += (size_t)snprintf(host.log + at, sizeof(host.log) - at, "%s ", tag);
	vsnprintf(host.log + at, sizeof(host.log) - at - 1, format, arguments);
	strcat(host.log, "\n");
}

#define LOGGER(name, tag)                     \
	void name(const char *format, ...)    \
	{                                     \
		va_list arguments;            \
		va_start(arguments, format);  \
		add_log(tag, format, arguments); \
		va_end(arguments);            \
	}
LOGGER(slurm_error, "E")
LOGGER(slurm_info, "I")
LOGGER(slurm_debug, "D")

static int fake_load_job(job_info_msg_t **answer, uint32_t job_id, uint16_t flags)
{
	(void)job_id;
	assert_int_equal(flags, SHOW_DETAIL | SHOW_LOCAL);
	errno = host.fake_errno;
	if (host.load_rc)
		return host.load_rc;
	*answer = calloc(1, sizeof(**answer));
	(*answer)->record_count = 1;
	(*answer)->job_array = &host.job_info;
	return 0;
}

static void fake_free_job(job_info_msg_t *answer)
{
	free(answer);
}

static int fake_requeue(uint32_t job_id, uint32_t flags)
{
	assert_int_equal(flags, 0);
	host.requeued = job_id;
	return host.requeue_rc;
}

static void fake_init_desc(job_desc_msg_t *message)
{
	memset(message, 0, sizeof(*message));
	message->requeue = NO_VAL16;
}

static int fake_update(job_desc_msg_t *message)
{
	host.updated = *message;
	snprintf(host.updated_comment, sizeof(host.updated_comment), "%s",
		 message->admin_comment ? message->admin_comment : "");
	errno = host.fake_errno;
	return host.update_rc;
}

static int fake_complete(uint32_t job_id, uint32_t code)
{
	host.completed = job_id;
	host.completed_code = code;
	return host.complete_rc;
}

static int fake_get_steps(time_t since, uint32_t job_id, uint32_t step_id, job_step_info_response_msg_t **answer,
			  uint16_t flags)
{
	(void)flags;
	assert_int_equal(since, 0);
	assert_int_equal(job_id, 42);
	host.asked_step = step_id;
	errno = host.fake_errno;
	if (host.steps_rc)
		return host.steps_rc;
	*answer = calloc(1, sizeof(**answer));
	(*answer)->job_step_count = 1;
	(*answer)->job_steps = &host.step_info;
	return 0;
}

static void fake_free_steps(job_step_info_response_msg_t *answer)
{
	free(answer);
}

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
static int fake_kill_step(uint32_t job_id, uint32_t step_id, uint16_t number, uint16_t flags)
#else
static int fake_kill_step(uint32_t job_id, uint32_t step_id, uint16_t number)
#endif
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
	assert_int_equal(flags, 0);
#endif
	host.ended_job = job_id;
	host.ended_step = step_id;
	host.end_signal = number;
	errno = host.fake_errno;
	return host.end_rc;
}

static hostlist_t fake_hostlist(const char *text)
{
	(void)text;
	return (hostlist_t)host.hostlist;
}

static int fake_find(hostlist_t list, const char *name)
{
	char **names = (char **)list;

	for (int i = 0; names[i]; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

static void fake_destroy(hostlist_t list)
{
	(void)list;
}

static int fake_cpus(job_resources_t *resources, const char *node)
{
	(void)resources;
	(void)node;
	return host.cpus_on_node;
}

static char *fake_state(uint32_t state)
{
	return state == JOB_RUNNING ? "RUNNING" : state == JOB_CANCELLED ? "CANCELLED" : "WRONG";
}

static char *fake_option_get(void *opt, const char *name)
{
	assert_non_null(opt);
	return (char *)lookup(host.tool, name);
}

static int fake_option_set(void *opt, const char *name, const char *value, bool early)
{
	assert_non_null(opt);
	assert_false(early);
	fake_set(host.tool, name, value);
	return host.option_set_rc;
}

static bool fake_option_is_set(void *opt, const char *name)
{
	assert_non_null(opt);
	return lookup(host.tool, name);
}

static spank_err_t fake_prepend(spank_t spank, int argc, const char **argv)
{
	(void)spank;
	for (int i = 0; i < argc; i++)
		host.prepended[i] = i ? argv[i] : strdup(argv[i]);
	return ESPANK_SUCCESS;
}

static slurm_conf_t fake_conf = { .cluster_name = "testcluster", .mpi_default = "pmix" };

void *slurm_symbol(const char *name)
{
	static const struct {
		const char *name;
		void *address;
	} symbols[] = {
		{ "slurm_load_job", fake_load_job },
		{ "slurm_free_job_info_msg", fake_free_job },
		{ "slurm_requeue", fake_requeue },
		{ "slurm_init_job_desc_msg", fake_init_desc },
		{ "slurm_update_job", fake_update },
		{ "slurm_complete_job", fake_complete },
		{ "slurm_get_job_steps", fake_get_steps },
		{ "slurm_free_job_step_info_response_msg", fake_free_steps },
		{ "slurm_kill_job_step", fake_kill_step },
		{ "slurm_hostlist_create", fake_hostlist },
		{ "slurm_hostlist_find", fake_find },
		{ "slurm_hostlist_destroy", fake_destroy },
		{ "slurm_job_cpus_allocated_on_node", fake_cpus },
		{ "slurm_job_state_string", fake_state },
		{ "slurm_option_get", fake_option_get },
		{ "slurm_option_isset", fake_option_is_set },
		{ "slurm_option_set", fake_option_set },
		{ "slurm_conf", &fake_conf },
		{ "opt", &host },
	};

	if (!strcmp(name, "sbopt"))
		return host.is_sbatch ? &host : NULL;
	if (!strcmp(name, "spank_prepend_task_argv"))
		return host.has_prepend ? fake_prepend : NULL;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
		if (!strcmp(name, symbols[i].name))
			return symbols[i].address;
	return NULL;
}
