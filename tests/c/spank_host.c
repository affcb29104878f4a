// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "spank_host.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../spank/allocate.h"
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
	allocate_forget();
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
		"SLURM_K8S_CLUSTER",
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
		"_SLURM_SPANK_OPTION_k8s_k8s_cluster",
		"SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_image",
		"SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_workdir",
		"SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_scope",
		"SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_rendezvous",
		"SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_node_selector",
		"SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_pull_secret",
		"SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_mount",
		"SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_pvc",
		"SLURM_SPANK__SLURM_SPANK_OPTION_k8s_k8s_cluster",
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

const char *fake_find_pair(const struct fake_pair *pairs, const char *name)
{
	for (int i = 0; i < FAKE_MAX; i++)
		if (pairs[i].name && !strcmp(pairs[i].name, name))
			return pairs[i].value;
	return NULL;
}

const char *fake_env(const char *name)
{
	return fake_find_pair(host.env, name);
}

const char *fake_control(const char *name)
{
	return fake_find_pair(host.control, name);
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
