// SPDX-License-Identifier: Apache-2.0
#include "client_end.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "../common/die.h"
#include "client_allocated.h"
#include "log.h"

/* Those of job control are the shell's, and those of a broken program its own. */
static const int left_alone[] = { SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGSEGV,
				  SIGBUS,  SIGILL,  SIGFPE,  SIGTRAP, SIGABRT, SIGSYS };

static sigset_t blocked; /* before */
static struct termios before;
static bool raw;

int client_catch_signals(void)
{
	sigset_t set;

	sigfillset(&set);
	for (size_t i = 0; i < sizeof(left_alone) / sizeof(left_alone[0]); i++)
		sigdelset(&set, left_alone[i]);
	sigprocmask(SIG_SETMASK, &set, &blocked);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

void client_release_signals(void)
{
	sigprocmask(SIG_SETMASK, &blocked, NULL);
}

int client_next_signal(int fd)
{
	struct signalfd_siginfo info;

	return read(fd, &info, sizeof(info)) == sizeof(info) ? (int)info.ssi_signo : 0;
}

void client_raw_terminal(void)
{
	struct termios mode;

	if (tcgetattr(STDIN_FILENO, &before))
		return;
	mode = before;
	cfmakeraw(&mode);
	raw = !tcsetattr(STDIN_FILENO, TCSADRAIN, &mode);
}

static void put_back(void)
{
	if (raw)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
	raw = false;
}

void client_end(int status)
{
	put_back();
	k8s_die_as(status);
}

void client_give_up(const char *name, const char *why)
{
	put_back();
	allocated_leave(0, true);
	say("slurm-k8s: error: %s: %s", name, why);
	_exit(1);
}
