// SPDX-License-Identifier: Apache-2.0
#include "task.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../include/frames.h"
#include "options.h"
#include "say.h"
#include "step.h"

/* From 23.11 on, and never on with another type. */
typedef spank_err_t prepend_argv(spank_t spank, int argc, const char **argv);

static int fail(const char *text)
{
	say_errors(text);
	return -1;
}

/* Returns 0 when the core has taken the socket. All post_forks are done before any task_init, so
 * what the parent had to tell is there: text where the core did not start, frames or nothing
 * where it did. */
static int listen_to_parent(int fd)
{
	const uint32_t magic = htonl(K8S_FRAME_MAGIC);
	char text[4096];
	ssize_t got = recv(fd, text, sizeof(text) - 1, MSG_PEEK | MSG_DONTWAIT);

	if (got < 0 && errno == EAGAIN)
		return 0;
	if (got < 0)
		return fail(strerror(errno));
	if (got >= (ssize_t)sizeof(magic) && !memcmp(text, &magic, sizeof(magic)))
		return 0;
	text[got] = '\0';
	return fail(got ? text : "the core did not start, slurmd's log has the reason");
}

static int keep_open(spank_t spank, const char *variable, int fd)
{
	char number[16];
	int flags = fcntl(fd, F_GETFD);

	if (flags < 0 || fcntl(fd, F_SETFD, flags & ~FD_CLOEXEC))
		return fail(strerror(errno));
	snprintf(number, sizeof(number), "%d", fd);
	return spank_setenv(spank, variable, number, 1) == ESPANK_SUCCESS ? 0 : fail("Slurm refuses to set the relay's environment");
}

/* `commands`: that of Slurm's commands in the Pod, which the first task's relay has; -1: not this one. */
static int hand_over_sockets(spank_t spank, int fd, int commands, bool is_batch, bool is_first)
{
	if (keep_open(spank, "SLURM_K8S_RELAY_FD", fd))
		return -1;
	spank_unsetenv(spank, "SLURM_K8S_COMMANDS_FD");
	if (commands >= 0 && keep_open(spank, "SLURM_K8S_COMMANDS_FD", commands))
		return -1;
	/* Of a step's tasks the first one sends it. */
	spank_unsetenv(spank, "SLURM_K8S_PULL_FILE");
	if (is_first && options_value(OPTION_PULL_SECRET) &&
	    spank_setenv(spank, "SLURM_K8S_PULL_FILE", options_value(OPTION_PULL_SECRET), 1) != ESPANK_SUCCESS)
		return fail("Slurm refuses to set the relay's environment");
	/* The job's own environment may say so of a step that is none. */
	spank_unsetenv(spank, "SLURM_K8S_BATCH");
	if (is_batch && spank_setenv(spank, "SLURM_K8S_BATCH", "1", 1) != ESPANK_SUCCESS)
		return fail("Slurm refuses to set the relay's environment");
	return 0;
}

/* 22.05 and 23.02: S_JOB_ARGV is the very vector that Slurm will exec, but for --multi-prog, which
 * srun refuses (launch.c); looked up in its source, slurmstepd_job.c. Its exec_task looks
 * argv[0] up in PATH after this, and not an absolute one. */
static int swap_argv(spank_t spank, const char *relay)
{
	char **argv = NULL, *copy;
	int argc = 0;

	if (spank_get_item(spank, S_JOB_ARGV, &argc, &argv) != ESPANK_SUCCESS || argc < 1 || !argv || !argv[0])
		return fail("Slurm does not show the task's command");
	copy = strdup(relay);
	if (!copy || spank_setenv(spank, "SLURM_K8S_ARGV0", argv[0], 1) != ESPANK_SUCCESS) {
		free(copy);
		return fail("Slurm refuses to set the relay's environment");
	}
	/* The old one is Slurm's memory: left alone, this process is about to exec. */
	argv[0] = copy;
	return 0;
}

static int replace_command(spank_t spank, const char *relay)
{
	prepend_argv *prepend = (prepend_argv *)slurm_symbol("spank_prepend_task_argv");
	const char *words[] = { relay, "--task", "--", NULL };

	if (!prepend)
		return SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0) ? fail("Slurm has no spank_prepend_task_argv")
									     : swap_argv(spank, relay);
	spank_unsetenv(spank, "SLURM_K8S_ARGV0");
	return prepend(spank, 3, words) == ESPANK_SUCCESS ? 0 : fail("Slurm refuses to replace the task's command");
}

int task_become_relay(spank_t spank, const struct config *config)
{
	struct step *step = step_here();
	char relay[PATH_MAX];
	int task = -1;

	if (!step->is_ours)
		return 0;
	if (step->fault)
		return fail(step->fault);
	if (spank_get_item(spank, S_TASK_ID, &task) != ESPANK_SUCCESS || task < 0 || (uint32_t)task >= step->tasks)
		return fail("Slurm does not say which task this is");
	if (listen_to_parent(step->pairs[task][1]))
		return -1;
	if ((size_t)snprintf(relay, sizeof(relay), "%s/relay", config->libexec) >= sizeof(relay))
		return fail("libexec= is too long");
	if (access(relay, X_OK)) {
		say_error("%s: %s", relay, strerror(errno));
		return -1;
	}
	if (step->legacy_script && spank_setenv(spank, "SLURM_K8S_SCRIPT", step->legacy_script, 1) != ESPANK_SUCCESS)
		return fail("Slurm refuses to set SLURM_K8S_SCRIPT");
	if (hand_over_sockets(spank, step->pairs[task][1], task ? -1 : step->commands[1], step->is_batch, !task))
		return -1;
	return replace_command(spank, relay);
}
