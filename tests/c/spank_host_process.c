// SPDX-License-Identifier: Apache-2.0
/* The process that the plugin is in: what the linker wraps, see spank.mk. */
#define _GNU_SOURCE
#include "spank_host.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Never done; what it would have been is kept: path, words and variables, a line each. */
int __wrap_execve(const char *path, char *const words[], char *const variables[]);
int __wrap_execve(const char *path, char *const words[], char *const variables[])
{
	FILE *text = fmemopen(host.executed, sizeof(host.executed), "w");

	fprintf(text, "%s\n", path);
	for (int i = 0; words[i]; i++)
		fprintf(text, "%s\n", words[i]);
	for (int i = 0; variables[i]; i++)
		if (!strncmp(variables[i], "SLURM_K8S_ALLOCATE", 18) || !strncmp(variables[i], "SLURM_K8S_INSIDE_", 17) || !strncmp(variables[i], "SLURM_NTASKS", 12))
			fprintf(text, "%s\n", variables[i]);
	fclose(text);
	errno = ENOEXEC;
	return -1;
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
