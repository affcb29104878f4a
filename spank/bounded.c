// SPDX-License-Identifier: Apache-2.0
#include "bounded.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

/* Belongs to both threads: whoever is last frees it. */
struct errand {
	int (*call)(void *);
	void *argument;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool has_ended, is_left;
	int result;
};

static void throw_away(struct errand *errand)
{
	pthread_cond_destroy(&errand->ended);
	pthread_mutex_destroy(&errand->lock);
	free(errand);
}

static void *run(void *argument)
{
	struct errand *errand = argument;
	int result = errand->call(errand->argument);
	bool is_left;

	pthread_mutex_lock(&errand->lock);
	errand->result = result;
	errand->has_ended = true;
	is_left = errand->is_left;
	pthread_cond_signal(&errand->ended);
	pthread_mutex_unlock(&errand->lock);
	if (is_left)
		throw_away(errand);
	return NULL;
}

static struct errand *prepare(int (*call)(void *), void *argument)
{
	struct errand *errand = calloc(1, sizeof(*errand));
	pthread_condattr_t clock;

	if (!errand)
		return NULL;
	errand->call = call;
	errand->argument = argument;
	pthread_mutex_init(&errand->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&errand->ended, &clock);
	pthread_condattr_destroy(&clock);
	return errand;
}

int bounded_call(int (*call)(void *), void *argument, unsigned seconds, int *result)
{
	struct errand *errand = prepare(call, argument);
	struct timespec until;
	pthread_t thread;
	bool has_ended;
	int error;

	if (!errand)
		return ENOMEM;
	error = pthread_create(&thread, NULL, run, errand);
	if (error) {
		throw_away(errand);
		return error;
	}
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += seconds;
	pthread_mutex_lock(&errand->lock);
	while (!errand->has_ended && error != ETIMEDOUT)
		error = pthread_cond_timedwait(&errand->ended, &errand->lock, &until);
	has_ended = errand->has_ended;
	errand->is_left = !has_ended;
	*result = errand->result;
	pthread_mutex_unlock(&errand->lock);
	if (!has_ended) {
		pthread_detach(thread);
		return ETIMEDOUT;
	}
	pthread_join(thread, NULL);
	throw_away(errand);
	return 0;
}
