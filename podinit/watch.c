// SPDX-License-Identifier: Apache-2.0
#include "watch.h"

#include <sys/epoll.h>
#include <unistd.h>

#include "clock.h"

/* epoll counts time as if the machine were never suspended, so deadlines are looked at
 * again now and then. */
#define LONGEST_WAIT_MS 10000

#define EVENTS_AT_ONCE 64

static int epoll_fd = -1;

int watch_setup(void)
{
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return epoll_fd < 0 ? -1 : 0;
}

void watch_open(struct watch *watch, int fd, void (*ready)(void *context, uint32_t events), void *context)
{
	watch->fd = fd;
	watch->events = 0;
	watch->ready = ready;
	watch->context = context;
}

void watch_want(struct watch *watch, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = watch };
	int operation = EPOLL_CTL_MOD;

	if (watch->fd < 0 || watch->events == events)
		return;
	/* Taken out altogether, as a hang-up would be told again and again. */
	if (!events)
		operation = EPOLL_CTL_DEL;
	else if (!watch->events)
		operation = EPOLL_CTL_ADD;
	if (!epoll_ctl(epoll_fd, operation, watch->fd, &event))
		watch->events = events;
}

void watch_close(struct watch *watch)
{
	if (watch->fd < 0)
		return;
	/* A forked child may still hold the file: closing alone would leave it in the set. */
	watch_want(watch, 0);
	close(watch->fd);
	watch->fd = -1;
	watch->events = 0;
}

static int milliseconds_until(int64_t deadline)
{
	int64_t left = deadline == CLOCK_NEVER ? LONGEST_WAIT_MS : deadline - clock_now();

	if (left < 0)
		return 0;
	return left > LONGEST_WAIT_MS ? LONGEST_WAIT_MS : (int)left;
}

void watch_wait(int64_t deadline)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	int count = epoll_wait(epoll_fd, events, EVENTS_AT_ONCE, milliseconds_until(deadline));

	for (int i = 0; i < count; i++) {
		struct watch *watch = events[i].data.ptr;

		if (watch->fd >= 0 && watch->events)
			watch->ready(watch->context, events[i].events);
	}
}
