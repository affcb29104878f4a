// SPDX-License-Identifier: Apache-2.0
#include "init.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "ends.h"
#include "files.h"
#include "link.h"
#include "log.h"
#include "processes.h"
#include "state.h"
#include "watch.h"

struct state state;

static struct watch signals;

static void take_signal(void *context, uint32_t events)
{
	struct signalfd_siginfo info;

	(void)context;
	(void)events;
	while (read(signals.fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			ends_reap();
		else
			ends_terminate();
	}
}

static int watch_signals(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -1;
	signal(SIGPIPE, SIG_IGN);
	fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (fd < 0)
		return -1;
	watch_open(&signals, fd, take_signal, NULL);
	watch_want(&signals, EPOLLIN);
	return 0;
}

int init_setup(const struct options *options)
{
	state.options = *options;
	state.heard = clock_now();
	files_raise_limit();
	processes_setup();
	/* Process 1 is that anyway. */
	if (getpid() != 1)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (watch_setup() || watch_signals()) {
		say("podinit: %s", strerror(errno));
		return -1;
	}
	return link_listen();
}

int init_live(void)
{
	int64_t next;
	int code;

	while (!ends_over(clock_now(), &code)) {
		next = ends_check(clock_now());
		link_flush();
		watch_wait(next);
	}
	return code;
}

int init_run(const struct options *options)
{
	return init_setup(options) ? EXIT_INTERNAL : init_live();
}
