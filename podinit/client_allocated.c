// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "client_allocated.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "../common/buffer.h"
#include "../common/bytes.h"
#include "../common/message.h"
#include "../common/records.h"
#include "../include/frames.h"
#include "client_end.h"
#include "log.h"

static const char *const senseless = "the Slurm node sent what makes no sense";

static struct k8s_messages messages;
static struct k8s_buffer records = { .limit = K8S_CALL_RECORDS };
static pid_t pid; /* of COMMAND, and its process group; 0: none runs */
static bool begun, hung_up;
static int stopped; /* the signal by which salloc was told to give the allocation back before COMMAND began */
static bool interactive;
static struct termios before;
static void (*child_ends)(int); /* what SIGCHLD did before */

bool allocated_is_interactive(void)
{
	return isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

bool allocated_runs(void)
{
	return pid > 0;
}

/* The user's shell on the Slurm node is none of the image's, and its passwd seldom knows the user. */
static char *shell(void)
{
	char *name = getenv("SHELL");

	if (name && name[0] == '/' && !access(name, X_OK))
		return name;
	return access("/bin/bash", X_OK) ? "/bin/sh" : "/bin/bash";
}

/* In the child: the records' values, each with its end. */
static char *texts;

static char *text_of(const struct k8s_entry *entry)
{
	static size_t used;
	char *text = texts + used;

	memcpy(text, entry->value, entry->length);
	text[entry->length] = '\0';
	used += entry->length + 1;
	return text;
}

/* In the child. Variables of Slurm's alone: all others are the caller's. `next` is the place of the next word. */
static void take(const struct k8s_entry *entry, char ***next)
{
	char *text = text_of(entry);

	switch (entry->tag) {
	case K8S_RECORD_ARGV:
		*(*next)++ = text;
		break;
	case K8S_RECORD_ENV:
		if (!strncmp(text, "SLURM_", 6) && strchr(text, '='))
			putenv(text);
		break;
	case K8S_RECORD_DIRECTORY:
		if (chdir(text)) {
			say("slurm-k8s: error: salloc: --chdir=%s: %s", text, strerror(errno));
			_exit(1);
		}
		break;
	default:
		break;
	}
}

/* SIGTSTP stays ignored at a terminal, as in Slurm's salloc: nobody would continue a lone command. */
static void prepare_signals(void)
{
	signal(SIGTTIN, SIG_DFL);
	signal(SIGTTOU, SIG_DFL);
	signal(SIGCHLD, child_ends);
	client_release_signals();
}

static _Noreturn void run(size_t count)
{
	char **words = calloc(count + 2, sizeof(*words)), **next = words, *directory;
	struct k8s_entry entry;
	size_t at = 0;

	texts = malloc(records.size + count + 1);
	if (!words || !texts)
		_exit(1);
	setpgid(0, 0);
	if (interactive)
		tcsetpgrp(STDIN_FILENO, getpid());
	while (k8s_records_next(records.bytes, records.size, &at, &entry) > 0)
		take(&entry, &next);
	if (!words[0])
		words[0] = shell();
	/* The Slurm node may know another directory by this name. */
	directory = getcwd(NULL, 0);
	if (directory)
		setenv("SLURM_SUBMIT_DIR", directory, 1);
	prepare_signals();
	execvp(words[0], words);
	say("slurm-k8s: error: salloc: %s: %s", words[0], strerror(errno));
	_exit(1);
}

static int count_records(size_t *count)
{
	struct k8s_entry entry;
	size_t at = 0;
	int rc;

	*count = 0;
	while ((rc = k8s_records_next(records.bytes, records.size, &at, &entry)) > 0) {
		if (memchr(entry.value, 0, entry.length))
			return -1;
		++*count;
	}
	return rc;
}

static const char *start(void)
{
	size_t count;

	if (begun || count_records(&count))
		return senseless;
	begun = true;
	interactive = allocated_is_interactive() && !tcgetattr(STDIN_FILENO, &before);
	if (interactive) {
		signal(SIGTSTP, SIG_IGN);
		signal(SIGTTIN, SIG_IGN);
		signal(SIGTTOU, SIG_IGN);
	}
	/* Where a caller's parent has it ignored, COMMAND's end would never be told. */
	child_ends = signal(SIGCHLD, SIG_DFL);
	pid = fork();
	if (pid == 0)
		run(count);
	if (pid < 0)
		return strerror(errno);
	setpgid(pid, pid);
	if (interactive)
		tcsetpgrp(STDIN_FILENO, pid);
	k8s_buffer_clear(&records);
	return NULL;
}

/* salloc gives the allocation back, but has COMMAND begin all the same and waits for its end. */
static const char *decline(void)
{
	if (begun)
		return senseless;
	begun = true;
	k8s_buffer_clear(&records);
	return NULL;
}

void allocated_signal(int number)
{
	hung_up |= number == SIGHUP;
	if (!begun && (number == SIGHUP || number == SIGINT || number == SIGQUIT || number == SIGTERM))
		stopped = number;
}

static void pass_signal(uint32_t number)
{
	hung_up |= number == SIGHUP;
	if (pid > 0 && number > 0 && number < _NSIG)
		kill(-pid, (int)number);
}

static const char *take_message(const struct k8s_message *message)
{
	switch (message->kind) {
	case K8S_CALL_OPEN:
		return k8s_buffer_append(&records, message->payload, message->length) ? strerror(errno) : NULL;
	case K8S_CALL_RUN:
		return stopped ? decline() : start();
	case K8S_CALL_SIGNAL:
		pass_signal(k8s_get_u32(message->payload));
		return NULL;
	default:
		return senseless;
	}
}

const char *allocated_take(const unsigned char *bytes, size_t count)
{
	struct k8s_message message;
	const char *why = NULL;
	int rc = 0;

	while (!why && (rc = k8s_messages_next(&messages, &bytes, &count, &message)) > 0)
		why = take_message(&message);
	return rc < 0 ? senseless : why;
}

static void take_terminal(void)
{
	if (!interactive)
		return;
	tcsetpgrp(STDIN_FILENO, getpgrp());
	tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
	interactive = false;
}

bool allocated_ended(int *status)
{
	if (begun && stopped) {
		*status = stopped;
		stopped = 0;
		return true;
	}
	if (pid <= 0 || waitpid(pid, status, WNOHANG) != pid)
		return false;
	pid = 0;
	take_terminal();
	return true;
}

void allocated_leave(int status, bool lost)
{
	if (pid > 0 && lost) {
		kill(-pid, SIGHUP);
		kill(-pid, SIGCONT);
	} else if (pid > 0 && WIFEXITED(status) && !hung_up) {
		/* salloc ends of itself when its command has: who stood for it was killed (--kill-command=KILL). */
		kill(-pid, SIGKILL);
	}
	take_terminal();
}
