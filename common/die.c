// SPDX-License-Identifier: Apache-2.0
#include "die.h"

#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

void k8s_die_of(int number)
{
	struct rlimit none = { 0, 0 };
	sigset_t one;

	setrlimit(RLIMIT_CORE, &none);
	/* A core file to a pipe heeds no limit. */
	prctl(PR_SET_DUMPABLE, 0);
	if (number == SIGTSTP || number == SIGTTIN || number == SIGTTOU || number == SIGSTOP)
		_exit(128 + number);
	signal(number, SIG_DFL);
	kill(getpid(), number);
	/* This one alone: others may be waiting, and would change what is seen. */
	sigemptyset(&one);
	sigaddset(&one, number);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	/* Its default is to be ignored. */
	_exit(128 + number);
}

void k8s_die_as(int status)
{
	if (WIFSIGNALED(status))
		k8s_die_of(WTERMSIG(status));
	_exit(WEXITSTATUS(status));
}
