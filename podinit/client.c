// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "client.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../common/bytes.h"
#include "../common/message.h"
#include "../include/frames.h"
#include "client_allocated.h"
#include "client_end.h"
#include "client_open.h"
#include "client_words.h"
#include "log.h"

/* What a pipe that poll says is writable takes without waiting. */
#define WRITE_AT_ONCE 4096
/* Credit is given back in lots. */
#define CREDIT_LOT (K8S_CALL_CREDIT / 4)
/* That many orders to end, and no word from the Slurm node: it cannot be reached. */
#define UNANSWERED 4

/* Bytes for one of our files. */
struct out {
	int fd;
	struct k8s_buffer bytes;
	size_t written;
};

static struct {
	const char *name;
	int socket, signals;
	bool terminal;	  /* stdin is one, and the command is to have it */
	bool input_ended; /* nothing more is to be read */
	bool over;
	int status;		  /* as of wait(2), once over */
	size_t credit;		  /* what may still be sent as input */
	size_t consumed;	  /* of the other side's messages, not yet given back */
	int unanswered;		  /* orders to end since the last word */
	struct k8s_buffer up;	  /* messages to process 1 */
	size_t sent;		  /* of up */
	struct out out, err, tty; /* of messages from process 1 */
	struct k8s_messages messages;
} client;

static const char *const names[] = { "srun",  "sbatch", "salloc", "scancel",
				     "squeue", "sinfo",	 "sacct",  "scontrol" };

const char *client_name(const char *argv0)
{
	const char *slash = argv0 ? strrchr(argv0, '/') : NULL;

	for (size_t i = 0; argv0 && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(slash ? slash + 1 : argv0, names[i]))
			return names[i];
	return NULL;
}

/* Beside the directory of the link by which it was called, as the kernel has it. */
static void socket_path(char *path, size_t capacity)
{
	const char *called = (const char *)getauxval(AT_EXECFN);
	const char *slash = called ? strrchr(called, '/') : NULL;
	int length = slash ? (int)(slash - called) - (int)strlen("/" K8S_COMMANDS_BIN) : -1;

	if (length <= 0 || strncmp(called + length, "/" K8S_COMMANDS_BIN "/", strlen("/" K8S_COMMANDS_BIN "/")))
		snprintf(path, capacity, K8S_RUN_DIRECTORY "/" K8S_COMMANDS_SOCKET);
	else
		snprintf(path, capacity, "%.*s/" K8S_COMMANDS_SOCKET, length, called);
}

static int connect_to(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	socket_path(address.sun_path, sizeof(address.sun_path));
	if (fd >= 0 && !connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		return fd;
	say("slurm-k8s: error: %s: Slurm's commands are not reached from here: %s: %s", client.name, address.sun_path,
	    strerror(errno));
	return -1;
}

static void send_message(uint8_t kind, const void *payload, uint32_t length)
{
	if (client_message(&client.up, kind, payload, length))
		client_give_up(client.name, strerror(errno));
}

static void write_up(void)
{
	while (client.sent < client.up.size) {
		ssize_t count = send(client.socket, client.up.bytes + client.sent, client.up.size - client.sent,
				     MSG_NOSIGNAL | MSG_DONTWAIT);

		/* Where it is closed there is a last word to be read. */
		if (count < 0 && errno != EAGAIN && errno != EINTR)
			client.sent = client.up.size;
		if (count < 0)
			return;
		client.sent += (size_t)count;
	}
	k8s_buffer_clear(&client.up);
	client.sent = 0;
}

static void read_input(void)
{
	unsigned char bytes[K8S_MESSAGE_MAX];
	size_t most = client.credit - K8S_MESSAGE_HEADER;
	ssize_t count = read(STDIN_FILENO, bytes, most < sizeof(bytes) ? most : sizeof(bytes));

	if (count < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	client.input_ended = count <= 0;
	if (count <= 0) {
		send_message(K8S_CALL_INPUT_END, NULL, 0);
		return;
	}
	client.credit -= (size_t)count + K8S_MESSAGE_HEADER;
	send_message(K8S_CALL_INPUT, bytes, (uint32_t)count);
}

static void tell_command_end(void)
{
	unsigned char payload[4];
	int status;

	if (!allocated_ended(&status))
		return;
	k8s_put_u32(payload, (uint32_t)status);
	send_message(K8S_CALL_COMMAND_END, payload, sizeof(payload));
}

static void read_signals(void)
{
	unsigned char payload[4];
	struct winsize size;
	int number;

	while ((number = client_next_signal(client.signals)) > 0) {
		if (number == SIGWINCH && client.terminal && !ioctl(STDIN_FILENO, TIOCGWINSZ, &size)) {
			k8s_put_u16(payload, size.ws_row);
			k8s_put_u16(payload + 2, size.ws_col);
			send_message(K8S_CALL_WINSIZE, payload, sizeof(payload));
		}
		if (number == SIGCHLD)
			tell_command_end();
		if (number == SIGWINCH || number == SIGCHLD)
			continue;
		allocated_signal(number);
		if (!allocated_runs() && (number == SIGINT || number == SIGTERM) &&
		    ++client.unanswered >= UNANSWERED)
			client_end(number);
		k8s_put_u32(payload, (uint32_t)number);
		send_message(K8S_CALL_SIGNAL, payload, sizeof(payload));
	}
}

static void consume(size_t bytes)
{
	unsigned char payload[4];

	client.consumed += bytes;
	if (client.consumed < CREDIT_LOT || client.over)
		return;
	k8s_put_u32(payload, (uint32_t)client.consumed);
	client.consumed = 0;
	send_message(K8S_CALL_CREDIT_BACK, payload, sizeof(payload));
}

static void keep(struct out *out, const struct k8s_message *message)
{
	if (out->written) {
		out->bytes.size -= out->written;
		memmove(out->bytes.bytes, out->bytes.bytes + out->written, out->bytes.size);
		out->written = 0;
	}
	if (k8s_buffer_append(&out->bytes, message->payload, message->length))
		client_give_up(client.name, "more came than was asked for");
	consume(K8S_MESSAGE_HEADER);
}

static void take_allocated(const struct k8s_message *message)
{
	const char *why = strcmp(client.name, "salloc") ? "the Slurm node sent what makes no sense"
							: allocated_take(message->payload, message->length);

	if (why)
		client_give_up(client.name, why);
	consume(K8S_MESSAGE_HEADER + message->length);
	tell_command_end();
}

static void end_with(int status)
{
	client.over = true;
	client.status = status;
}

static void take(const struct k8s_message *message)
{
	client.unanswered = 0;
	switch (message->kind) {
	case K8S_CALL_OUTPUT:
		keep(&client.out, message);
		break;
	case K8S_CALL_ERROR:
		keep(&client.err, message);
		break;
	case K8S_CALL_TERMINAL:
		keep(&client.tty, message);
		break;
	case K8S_CALL_ALLOCATED:
		take_allocated(message);
		break;
	case K8S_CALL_CREDIT_BACK:
		client.credit += k8s_get_u32(message->payload);
		break;
	case K8S_CALL_EXIT:
		end_with((int)k8s_get_u32(message->payload));
		allocated_leave(client.status, false);
		break;
	case K8S_CALL_REFUSED:
		say("slurm-k8s: error: %s: %.*s", client.name, (int)message->length, message->payload);
		end_with(1 << 8);
		allocated_leave(0, true);
		break;
	default:
		break;
	}
}

static void read_down(void)
{
	static unsigned char bytes[65536];
	const unsigned char *at = bytes;
	struct k8s_message message;
	ssize_t got = recv(client.socket, bytes, sizeof(bytes), MSG_DONTWAIT);
	size_t count = got > 0 ? (size_t)got : 0;

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0)
		client_give_up(client.name, "the connection to the Slurm node was lost");
	while (!client.over && k8s_messages_next(&client.messages, &at, &count, &message) > 0)
		take(&message);
}

static bool waits(const struct out *out)
{
	return out->written < out->bytes.size;
}

static void write_out(struct out *out)
{
	size_t left = out->bytes.size - out->written;
	ssize_t count = write(out->fd, out->bytes.bytes + out->written, left < WRITE_AT_ONCE ? left : WRITE_AT_ONCE);

	if (count < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	/* As a command that does not look at what write says. */
	if (count < 0)
		count = (ssize_t)left;
	out->written += (size_t)count;
	consume((size_t)count);
	if (!waits(out)) {
		k8s_buffer_clear(&out->bytes);
		out->written = 0;
	}
}

static void watch(struct pollfd *file, int fd, bool wanted, short events)
{
	*file = (struct pollfd){ .fd = wanted ? fd : -1, .events = events };
}

static void turn(void)
{
	enum { SOCKET, SIGNALS, INPUT, OUT, ERR, TTY, FILES };
	struct out *outs[] = { &client.out, &client.err, &client.tty };
	struct pollfd files[FILES];
	bool up = client.sent < client.up.size;

	watch(&files[SOCKET], client.socket, !client.over, (short)(POLLIN | (up ? POLLOUT : 0)));
	watch(&files[SIGNALS], client.signals, true, POLLIN);
	watch(&files[INPUT], STDIN_FILENO,
	      !client.over && !client.input_ended && !up && client.credit > K8S_MESSAGE_HEADER, POLLIN);
	for (int i = 0; i < 3; i++)
		watch(&files[OUT + i], outs[i]->fd, waits(outs[i]), POLLOUT);
	if (poll(files, FILES, -1) < 0)
		return;
	if (files[SIGNALS].revents)
		read_signals();
	for (int i = 0; i < 3; i++)
		if (files[OUT + i].revents)
			write_out(outs[i]);
	if (files[INPUT].revents)
		read_input();
	if (files[SOCKET].revents & POLLOUT)
		write_up();
	if (files[SOCKET].revents & (POLLIN | POLLHUP | POLLERR))
		read_down();
}

static void prepare(void)
{
	client.credit = K8S_CALL_CREDIT;
	client.up.limit = K8S_CALL_RECORDS + (1 << 20);
	client.out.bytes.limit = client.err.bytes.limit = client.tty.bytes.limit = K8S_CALL_CREDIT;
	client.out.fd = STDOUT_FILENO;
	client.err.fd = STDERR_FILENO;
	client.tty.fd = isatty(STDOUT_FILENO) ? STDOUT_FILENO : isatty(STDERR_FILENO) ? STDERR_FILENO : STDIN_FILENO;
}

/* salloc does not read its stdin, but it looks whether it is a terminal. */
static unsigned char terminals(void)
{
	unsigned char bits = 1;

	if (!client.terminal)
		return !strcmp(client.name, "salloc") && allocated_is_interactive();
	for (int fd = 1; fd < 3; fd++)
		bits |= (unsigned char)(isatty(fd) << fd);
	return bits;
}

int client_run(const char *name, int argc, char **argv)
{
	client.name = name;
	client.input_ended = !words_want_input(name, argc, argv);
	/* One in the background must neither change the terminal nor read it. */
	if (!client.input_ended && isatty(STDIN_FILENO)) {
		client.terminal = tcgetpgrp(STDIN_FILENO) == getpgrp();
		client.input_ended = !client.terminal;
	}
	prepare();
	if (client_open(&client.up, name, argc, argv, terminals()))
		return 1;
	if (client.input_ended)
		send_message(K8S_CALL_INPUT_END, NULL, 0);
	client.socket = connect_to();
	if (client.socket < 0)
		return 1;
	client.signals = client_catch_signals();
	if (client.terminal)
		client_raw_terminal();
	while (!client.over || waits(&client.out) || waits(&client.err) || waits(&client.tty))
		turn();
	client_end(client.status);
}
