/* SPDX-License-Identifier: Apache-2.0 */
/* Process 1 of a Pod's sandbox: sleeps, reaps, ends on TERM. */
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

static void end(int sig)
{
	(void)sig;
	_exit(0);
}

static void reap(int sig)
{
	(void)sig;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

int main(void)
{
	struct sigaction e = {.sa_handler = end};
	struct sigaction r = {.sa_handler = reap, .sa_flags = SA_NOCLDSTOP};

	sigaction(SIGINT, &e, NULL);
	sigaction(SIGTERM, &e, NULL);
	sigaction(SIGCHLD, &r, NULL);
	for (;;)
		pause();
}
