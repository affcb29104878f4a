// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "pump.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "log.h"
#include "socket.h"

#define EXIT_REFUSED 69
#define CHUNK (256 * 1024)

/* One direction. Nothing is read while there is something to write. */
struct flow {
	int from, to;
	bool splice; /* try the kernel's short cut, which keeps nothing here */
	bool full;   /* splice said that `to` takes nothing now, or `from` has nothing */
	bool ended;  /* `from` has ended */
	size_t at, have;
	unsigned char bytes[CHUNK];
};

static struct flow up, down;

/* The session's own socket, where a step has joined the container; else process 1's, which
 * knows by the session whether it is meant. */
static int connect_to(const struct options *options)
{
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	int fd;

	socket_path(path, sizeof(path), options->run, options->session);
	fd = socket_connect(path);
	if (fd < 0 && errno == ENOENT) {
		socket_path(path, sizeof(path), options->run, 0);
		fd = socket_connect(path);
	}
	if (fd < 0)
		say("podinit pump: %s: %s", path, strerror(errno));
	return fd;
}

static void unblock(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

static bool is_transient(void)
{
	return errno == EAGAIN || errno == EINTR;
}

static int splice_some(struct flow *flow)
{
	ssize_t count = splice(flow->from, NULL, flow->to, NULL, CHUNK, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);

	if (count > 0)
		return 0;
	if (count == 0) {
		flow->ended = true;
		return 0;
	}
	if (errno == EINVAL) {
		flow->splice = false;
		return 0;
	}
	flow->full = true;
	return is_transient() ? 0 : -1;
}

static int write_some(struct flow *flow)
{
	ssize_t count = write(flow->to, flow->bytes + flow->at, flow->have - flow->at);

	if (count < 0)
		return is_transient() ? 0 : -1;
	flow->at += (size_t)count;
	if (flow->at == flow->have)
		flow->at = flow->have = 0;
	return 0;
}

static int read_some(struct flow *flow)
{
	ssize_t count = read(flow->from, flow->bytes, CHUNK);

	if (count < 0)
		return is_transient() ? 0 : -1;
	flow->have = (size_t)count;
	flow->ended = count == 0;
	return count ? write_some(flow) : 0;
}

/* What must be ready next: first something to carry, then room for it. */
static void wish(const struct flow *flow, struct pollfd *from, struct pollfd *to)
{
	if (flow->have || flow->full)
		to->events |= POLLOUT;
	else
		from->events |= POLLIN;
}

static int step(struct flow *flow, const struct pollfd *from, const struct pollfd *to)
{
	bool readable = from->revents & (POLLIN | POLLHUP | POLLERR);

	if (flow->have)
		return to->revents & POLLOUT ? write_some(flow) : 0;
	if (flow->full) {
		flow->full = !(to->revents & POLLOUT);
		return 0;
	}
	if (!readable)
		return 0;
	return flow->splice ? splice_some(flow) : read_some(flow);
}

/* Carries until a side closes. What was read before is delivered. */
static void carry(int socket)
{
	struct pollfd in = { 0 }, out = { .fd = STDOUT_FILENO }, middle = { 0 };

	while (!up.ended && !down.ended) {
		struct pollfd all[3];

		in.events = out.events = middle.events = 0;
		wish(&up, &in, &middle);
		wish(&down, &middle, &out);
		/* A hang-up that nobody waits for would wake us for ever. */
		in.fd = in.events ? STDIN_FILENO : -1;
		middle.fd = middle.events ? socket : -1;
		all[0] = in;
		all[1] = out;
		all[2] = middle;
		if (poll(all, 3, -1) < 0)
			continue;
		if (all[1].revents & (POLLERR | POLLNVAL))
			return;
		if (step(&up, &all[0], &all[2]) || step(&down, &all[2], &all[1]))
			return;
	}
}

int pump_run(const struct options *options)
{
	int socket = connect_to(options);

	if (socket < 0)
		return EXIT_REFUSED;
	unblock(socket);
	unblock(STDIN_FILENO);
	unblock(STDOUT_FILENO);
	up.from = STDIN_FILENO;
	up.to = socket;
	down.from = socket;
	down.to = STDOUT_FILENO;
	down.splice = true;
	carry(socket);
	return 0;
}
