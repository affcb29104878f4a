/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h - the one place where podinit waits: fds and what to call when they are ready. */
#ifndef PODINIT_WATCH_H
#define PODINIT_WATCH_H

#include <stdint.h>

/* A watch lives as long as the process (its memory is never freed), so that an
 * event that was fetched before the watch was closed finds fd -1, and is dropped. */
struct watch {
	int fd;		 /* owned; -1: closed */
	uint32_t events; /* EPOLLIN, EPOLLOUT; 0: not in the epoll set at all */
	void (*ready)(void *context, uint32_t events);
	void *context; /* borrowed */
};

/* Makes the epoll set. Returns 0, or -1 with errno. Call once, first. */
int watch_setup(void);

/* Takes over `fd`, wanting nothing yet. */
void watch_open(struct watch *watch, int fd, void (*ready)(void *context, uint32_t events), void *context);

/* Waits for these events from now on; 0: for none, not even for a hang-up. Nothing
 * happens to a closed watch. */
void watch_want(struct watch *watch, uint32_t events);

/* Closes the fd. Closing twice is harmless. */
void watch_close(struct watch *watch);

/* Waits until `deadline` (clock.h) for events and calls what they are for. */
void watch_wait(int64_t deadline);

#endif
