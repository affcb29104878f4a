// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "call.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../common/bytes.h"
#include "../include/commands.h"
#include "call_words.h"
#include "commands.h"
#include "rules.h"
#include "surroundings.h"

/* From TERM to KILL for a command whose caller is gone: srun ends its step meanwhile. */
#define INSIST_MS 10000

void call_begin(struct call *call, uint32_t number)
{
	*call = (struct call){ .used = true, .number = number, .input = -1, .terminal = -1, .credit = K8S_CALL_CREDIT,
			       .records.limit = K8S_CALL_RECORDS, .waiting.limit = K8S_CALL_CREDIT,
			       .outputs = { { -1, 0 }, { -1, 0 }, { -1, 0 } } };
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void call_close(struct call *call)
{
	close_one(&call->input);
	close_one(&call->terminal);
	for (int i = 0; i < CALL_OUTPUTS; i++)
		close_one(&call->outputs[i].fd);
	k8s_buffer_clear(&call->records);
	k8s_buffer_clear(&call->waiting);
	if (call->script)
		unlink(call->script);
	if (call->script_directory)
		rmdir(call->script_directory);
	free(call->script);
	free(call->script_directory);
	call->used = call->running = false;
}

void call_refuse(struct call *call, const char *why)
{
	commands_send(call->number, K8S_CALL_REFUSED, why, (uint32_t)strlen(why));
	call_close(call);
}

/* The command's ends of its files, and whether there is a terminal among them, or salloc's socket. */
struct ends {
	int files[3];
	int terminal, socket;
};

/* What salloc's socket is in salloc. */
#define SOCKET_FD 3
#define SOCKET_VARIABLE K8S_ALLOCATE_FD "=3"

static int pipe_to(int *ours, int *theirs, bool input)
{
	int both[2];

	if (pipe2(both, O_CLOEXEC))
		return -1;
	*ours = both[input];
	*theirs = both[!input];
	return fcntl(*ours, F_SETFL, O_NONBLOCK);
}

static int open_terminal(struct call *call, const struct words *words, struct ends *ends)
{
	struct winsize size = { .ws_row = words->rows, .ws_col = words->columns };

	if (openpty(&call->terminal, &ends->terminal, NULL, NULL, &size))
		return -1;
	fcntl(call->terminal, F_SETFD, FD_CLOEXEC);
	fcntl(ends->terminal, F_SETFD, FD_CLOEXEC);
	call->input = fcntl(call->terminal, F_DUPFD_CLOEXEC, 3);
	return call->input < 0 ? -1 : fcntl(call->terminal, F_SETFL, O_NONBLOCK);
}

static int open_socket(struct call *call, struct ends *ends)
{
	int both[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both))
		return -1;
	call->outputs[CALL_ALLOCATED] = (struct call_output){ both[0], K8S_CALL_ALLOCATED };
	ends->socket = both[1];
	call->is_salloc = true;
	return fcntl(both[0], F_SETFL, O_NONBLOCK);
}

static int open_files(struct call *call, const struct words *words, struct ends *ends)
{
	static const uint8_t kinds[] = { 0, K8S_CALL_OUTPUT, K8S_CALL_ERROR };

	if (words->terminals && open_terminal(call, words, ends))
		return -1;
	if (!words->terminals && pipe_to(&call->input, &ends->files[0], true))
		return -1;
	for (int fd = 1; fd < 3; fd++) {
		struct call_output *output = &call->outputs[fd - 1];

		output->kind = kinds[fd];
		if (!(words->terminals & 1 << fd) && pipe_to(&output->fd, &ends->files[fd], false))
			return -1;
	}
	return strcmp(words->arguments[0], "salloc") ? 0 : open_socket(call, ends);
}

static void close_ends(struct ends *ends)
{
	for (int fd = 0; fd < 3; fd++)
		close_one(&ends->files[fd]);
	close_one(&ends->terminal);
	close_one(&ends->socket);
}

static _Noreturn void run(const char *path, struct words *words, const struct ends *ends)
{
	static const char trouble[] = "slurm-k8s: error: the command cannot be run on the Slurm node\n";
	char **variables;
	sigset_t none;

	setsid();
	if (ends->terminal >= 0)
		ioctl(ends->terminal, TIOCSCTTY, 0);
	for (int fd = 0; fd < 3; fd++)
		if (dup2(ends->files[fd] >= 0 ? ends->files[fd] : ends->terminal, fd) < 0)
			_exit(126);
	if (ends->socket >= 0 && (ends->socket == SOCKET_FD ? fcntl(SOCKET_FD, F_SETFD, 0) : dup2(ends->socket, SOCKET_FD)) < 0)
		_exit(126);
	surroundings_enter(words->directory);
	variables = surroundings_of(words->variables, words->variable_count, words->directory,
				    ends->socket >= 0 ? SOCKET_VARIABLE : NULL);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (variables)
		execve(path, words->arguments, variables);
	(void)!write(STDERR_FILENO, trouble, sizeof(trouble) - 1);
	_exit(126);
}

static const char *fork_command(struct call *call, struct words *words)
{
	struct ends ends = { { -1, -1, -1 }, -1, -1 };
	char path[PATH_MAX];
	pid_t pid = -1;

	if (rules_find(words->arguments[0], path, sizeof(path)))
		return "not found on the Slurm node (commands.path in k8s.yaml)";
	if (!open_files(call, words, &ends))
		pid = fork();
	if (pid == 0)
		run(path, words, &ends);
	close_ends(&ends);
	if (pid < 0)
		return "the Slurm node has no room for another process of yours";
	call->pid = pid;
	call->running = true;
	return NULL;
}

void call_start(struct call *call)
{
	struct words words = { 0 };
	const char *why = words_read(&words, &call->records);

	if (!why)
		why = rules_refuse(words.arguments);
	if (!why && words.script_at)
		why = words_write_script(&words, &call->script_directory, &call->script);
	if (!why)
		why = fork_command(call, &words);
	words_clear(&words);
	k8s_buffer_clear(&call->records);
	if (why)
		call_refuse(call, why);
}

void call_reaped(struct call *call, int status)
{
	call->pid = 0;
	call->reaped = true;
	call->status = status;
	close_one(&call->input);
	k8s_buffer_clear(&call->waiting);
}

void call_settle(struct call *call)
{
	unsigned char status[4];

	if (!call->reaped || call->terminal >= 0)
		return;
	for (int i = 0; i < CALL_OUTPUTS; i++)
		if (call->outputs[i].fd >= 0)
			return;
	k8s_put_u32(status, (uint32_t)call->status);
	commands_send(call->number, K8S_CALL_EXIT, status, sizeof(status));
	call_close(call);
}

void call_signal(const struct call *call, int number)
{
	/* Not to what salloc has just forked for COMMAND: it would take the signal as salloc does. */
	if (call->pid && number > 0 && number < _NSIG && (call->is_salloc || kill(-call->pid, number)))
		kill(call->pid, number);
}

void call_command_ended(struct call *call, const unsigned char status[4])
{
	int fd = call->outputs[CALL_ALLOCATED].fd;

	if (fd >= 0 && !call->command_ended)
		(void)!send(fd, status, 4, MSG_NOSIGNAL | MSG_DONTWAIT);
	call->command_ended = true;
}

void call_terminate(struct call *call, int64_t now)
{
	if (!call->running) {
		call_refuse(call, "the caller has ended");
		return;
	}
	call->gone = true;
	call->kill_at = now + INSIST_MS;
	/* salloc gives the allocation back when its COMMAND ends. */
	if (call->allocated && !shutdown(call->outputs[CALL_ALLOCATED].fd, SHUT_RDWR))
		return;
	call_signal(call, SIGCONT);
	call_signal(call, SIGTERM);
}
