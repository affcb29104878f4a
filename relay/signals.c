// SPDX-License-Identifier: Apache-2.0
#include "signals.h"

#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "../common/bytes.h"
#include "relay.h"

/* The kernel joins equal ones that wait, so no right sender fills this. */
#define QUEUE 256

static unsigned char queue[QUEUE];
static size_t first, count;
static bool resized;

int signals_open(void)
{
	sigset_t all;

	signal(SIGPIPE, SIG_IGN);
	sigfillset(&all);
	sigdelset(&all, SIGPIPE);
	sigdelset(&all, SIGCHLD);
	if (sigprocmask(SIG_SETMASK, &all, NULL))
		return -1;
	return signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC);
}

static void take(int number)
{
	if (number == SIGWINCH) {
		resized = relay.terminal;
		return;
	}
	if (number == SIGTERM)
		relay.told_term = true;
	if (count < QUEUE)
		queue[(first + count++) % QUEUE] = (unsigned char)number;
}

void signals_read(int fd)
{
	struct signalfd_siginfo info;

	while (read(fd, &info, sizeof(info)) == sizeof(info))
		take((int)info.ssi_signo);
}

static bool next_size(struct k8s_frame *frame, unsigned char payload[4])
{
	struct winsize size;

	if (!resized || ioctl(STDIN_FILENO, TIOCGWINSZ, &size))
		return resized = false;
	resized = false;
	k8s_put_u16(payload, size.ws_row);
	k8s_put_u16(payload + 2, size.ws_col);
	*frame = (struct k8s_frame){ .type = K8S_FRAME_WINSIZE, .length = 4 };
	return true;
}

bool signals_next(struct k8s_frame *frame, unsigned char payload[4])
{
	if (!count)
		return next_size(frame, payload);
	k8s_put_u32(payload, queue[first]);
	first = (first + 1) % QUEUE;
	count--;
	*frame = (struct k8s_frame){ .type = K8S_FRAME_SIGNAL, .length = 4 };
	return true;
}
