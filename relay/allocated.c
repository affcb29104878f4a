// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "allocated.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../common/buffer.h"
#include "../common/bytes.h"
#include "../common/die.h"
#include "../common/message.h"
#include "../common/records.h"
#include "../include/frames.h"
#include "line.h"
#include "surroundings.h"

extern char **environ;

static int sock = -1;

bool allocated_called(int argc, char **argv)
{
	return argc > 1 && !strcmp(argv[1], K8S_ALLOCATED_WORD) && getenv(K8S_ALLOCATED_FD) &&
	       !getenv("SLURM_K8S_RELAY_FD");
}

static _Noreturn void give_up(const char *why)
{
	complain("salloc: its command cannot be started in the Pod: %s", why);
	_exit(1);
}

/* The caller has gone, and with it COMMAND's place: salloc gives the allocation back. */
static _Noreturn void end_without_caller(void)
{
	_exit(1);
}

/* Waits for a caller that does not read. */
static void send_bytes(const void *bytes, size_t count)
{
	const unsigned char *at = bytes;

	while (count) {
		ssize_t some = send(sock, at, count, MSG_NOSIGNAL);

		if (some < 0 && errno == EINTR)
			continue;
		if (some <= 0)
			end_without_caller();
		at += some;
		count -= (size_t)some;
	}
}

static void send_message(uint8_t kind, const void *payload, size_t length)
{
	struct k8s_message message = { .kind = kind, .length = (uint32_t)length };
	unsigned char header[K8S_MESSAGE_HEADER];

	k8s_message_encode(&message, header);
	send_bytes(header, sizeof(header));
	send_bytes(payload, length);
}

static void add(struct k8s_buffer *records, unsigned char tag, const char *text)
{
	if (k8s_record_append(records, tag, 0, text, (uint32_t)strlen(text)))
		give_up(errno == EMSGSIZE ? "its words and variables are together more than 8 MiB" : strerror(errno));
}

static void tell_allocation(int argc, char **argv)
{
	struct k8s_buffer records = { .limit = K8S_CALL_RECORDS };
	const char *directory = getenv(K8S_ALLOCATED_DIRECTORY);

	for (int i = 2; i < argc; i++)
		add(&records, K8S_RECORD_ARGV, argv[i]);
	for (char **variable = environ; *variable; variable++)
		if (surroundings_tell(*variable))
			add(&records, K8S_RECORD_ENV, *variable);
	if (directory)
		add(&records, K8S_RECORD_DIRECTORY, directory);
	for (size_t at = 0; at < records.size; at += K8S_MESSAGE_MAX) {
		size_t some = records.size - at < K8S_MESSAGE_MAX ? records.size - at : K8S_MESSAGE_MAX;

		send_message(K8S_CALL_OPEN, records.bytes + at, some);
	}
	send_message(K8S_CALL_RUN, NULL, 0);
	k8s_buffer_clear(&records);
}

static int catch_signals(void)
{
	sigset_t set;

	sigfillset(&set);
	sigdelset(&set, SIGWINCH);
	sigdelset(&set, SIGCHLD);
	sigprocmask(SIG_SETMASK, &set, NULL);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static void tell_signals(int signals)
{
	struct signalfd_siginfo info;
	unsigned char payload[4];

	while (read(signals, &info, sizeof(info)) == sizeof(info)) {
		k8s_put_u32(payload, info.ssi_signo);
		send_message(K8S_CALL_SIGNAL, payload, sizeof(payload));
	}
}

/* Ends with COMMAND. */
static void hear_end(void)
{
	static unsigned char status[4];
	static size_t have;
	ssize_t count = recv(sock, status + have, sizeof(status) - have, MSG_DONTWAIT);

	if (count < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (count <= 0)
		end_without_caller();
	have += (size_t)count;
	if (have == sizeof(status))
		k8s_die_as((int)k8s_get_u32(status));
}

void allocated_run(int argc, char **argv)
{
	struct pollfd files[] = { { .events = POLLIN }, { .events = POLLIN } };
	char *end;
	long fd = strtol(getenv(K8S_ALLOCATED_FD), &end, 10);
	int signals = catch_signals();
	int type;
	socklen_t size = sizeof(type);

	if (signals < 0)
		give_up(strerror(errno));
	if (*end || fd < 3 || fd > 1 << 20 || getsockopt((int)fd, SOL_SOCKET, SO_TYPE, &type, &size))
		give_up("salloc has closed the connection to it");
	sock = (int)fd;
	tell_allocation(argc, argv);
	files[0].fd = sock;
	files[1].fd = signals;
	for (;;) {
		if (poll(files, 2, -1) < 0)
			continue;
		/* First what salloc wants: both may be there. */
		if (files[1].revents)
			tell_signals(signals);
		if (files[0].revents)
			hear_end();
	}
}
