// SPDX-License-Identifier: Apache-2.0
#include "limits.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

/* Measured: Go aborts at 1 GB of address space. It maps data as it needs it. */
#define LEAST_ADDRESS_SPACE (2147483648ULL)
#define LEAST_DATA (268435456ULL)

/* The threads that a short life of the core takes, and as many again. */
#define TRIAL_THREADS 24

static bool is_tight(int resource, rlim_t least)
{
	struct rlimit limit;

	return !getrlimit(resource, &limit) && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= least;
}

static void *stand(void *gate)
{
	pthread_mutex_lock(gate);
	pthread_mutex_unlock(gate);
	return NULL;
}

/* RLIMIT_NPROC counts all that the user runs on the machine, so only a trial tells. */
static bool threads_fit(void)
{
	pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	pthread_t threads[TRIAL_THREADS];
	struct rlimit limit;
	int count = 0;

	if (!getrlimit(RLIMIT_NPROC, &limit) && limit.rlim_cur == RLIM_INFINITY)
		return true;
	pthread_mutex_lock(&gate);
	while (count < TRIAL_THREADS && !pthread_create(&threads[count], NULL, stand, &gate))
		count++;
	pthread_mutex_unlock(&gate);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return count == TRIAL_THREADS;
}

const char *limits_forbid_go(void)
{
	if (is_tight(RLIMIT_AS, LEAST_ADDRESS_SPACE))
		return "the limit on address space (ulimit -v) is 2 GB or less";
	if (is_tight(RLIMIT_DATA, LEAST_DATA))
		return "the limit on data (ulimit -d) is 256 MB or less";
	if (!threads_fit())
		return "the limit on processes (ulimit -u) leaves no room for threads";
	return NULL;
}
