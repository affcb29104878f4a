// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "link.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../common/reader.h"
#include "hello.h"
#include "log.h"
#include "orders.h"
#include "outbox.h"
#include "processes.h"
#include "socket.h"
#include "state.h"

struct link {
	struct watch watch;
	pid_t pump; /* the process that connected */
	struct k8s_reader reader;
	unsigned char buffer[2 * K8S_READER_MIN];
	struct outgoing outgoing;
	struct hello hello;
	bool start_due;
	bool heartbeat_due;
	uint64_t heartbeat;
};

static struct watch listener;
/* One connection that has said hello, and one that is about to. */
static struct link links[2];
static struct link *current;

static void close_link(struct link *link)
{
	watch_close(&link->watch);
	link->outgoing.count = 0;
	hello_clear(&link->hello);
	if (link != current)
		return;
	current = NULL;
	orders_forget();
}

/* The newest wins: the older pump may hang on a connection that is dead, or belong to
 * a core that is. */
static void make_current(struct link *link)
{
	if (current) {
		processes_kill_pump(current->pump);
		close_link(current);
	}
	current = link;
	state.heard = clock_now();
	link->start_due = link->heartbeat_due = false;
	outbox_rewind();
	if (hello_make(&link->hello)) {
		say("podinit: hello: out of memory");
		close_link(link);
	}
}

static int take_frame(struct link *link, const struct k8s_frame *frame)
{
	if (link == current) {
		state.heard = clock_now();
		return orders_take(frame);
	}
	if (frame->type != K8S_FRAME_HELLO) {
		say("podinit: connection refused: no hello");
		return -1;
	}
	make_current(link);
	return 0;
}

static int take_frames(struct link *link)
{
	struct k8s_frame frame;
	int rc;

	while ((rc = k8s_reader_next(&link->reader, &frame)) > 0) {
		if (take_frame(link, &frame))
			return -1;
		if (link->watch.fd < 0)
			return 0;
	}
	if (rc < 0)
		say("podinit: connection refused: malformed frame: %s", k8s_fault_name(rc));
	return rc;
}

static void read_link(struct link *link)
{
	ssize_t count = k8s_reader_fill(&link->reader, link->watch.fd);

	if (count < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (count <= 0 || take_frames(link))
		close_link(link);
}

/* Writing is tried after every round of events, so EPOLLOUT only has to wake us. */
static void link_ready(void *context, uint32_t events)
{
	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		read_link(context);
}

static int next_outgoing(struct link *link)
{
	struct k8s_frame frame = { .task = K8S_TASK_ALL };

	if (hello_next(&link->hello, &link->outgoing))
		return 1;
	if (link->start_due) {
		link->start_due = false;
		frame.type = K8S_FRAME_START;
		outgoing_frame(&link->outgoing, frame, NULL);
		return 1;
	}
	if (link->heartbeat_due) {
		link->heartbeat_due = false;
		frame.type = K8S_FRAME_HEARTBEAT;
		frame.flags = K8S_FLAG_REPLY;
		frame.offset = link->heartbeat;
		outgoing_frame(&link->outgoing, frame, NULL);
		return 1;
	}
	return outbox_next(&link->outgoing);
}

/* Returns 1 when bytes went, 0 when there are none or no room, -1: the pump is gone. */
static int write_some(struct link *link)
{
	struct outgoing *outgoing = &link->outgoing;
	struct msghdr message = { .msg_iov = outgoing->pieces };
	ssize_t count;

	if (!outgoing->count && !next_outgoing(link)) {
		watch_want(&link->watch, EPOLLIN);
		return 0;
	}
	message.msg_iovlen = outgoing->count;
	count = sendmsg(link->watch.fd, &message, MSG_NOSIGNAL);
	if (count < 0 && errno == EINTR)
		return 1;
	if (count < 0 && errno == EAGAIN) {
		watch_want(&link->watch, EPOLLIN | EPOLLOUT);
		return 0;
	}
	if (count < 0)
		return -1;
	outgoing_advance(outgoing, (size_t)count);
	return 1;
}

/* Bounded, so that tasks are read while a fast reader takes all there is. */
#define WRITES_AT_ONCE 16

void link_flush(void)
{
	int rc = 1;

	for (int i = 0; current && rc > 0 && i < WRITES_AT_ONCE; i++)
		rc = write_some(current);
	if (rc > 0 && current)
		watch_want(&current->watch, EPOLLIN | EPOLLOUT);
	if (rc < 0)
		close_link(current);
}

bool link_connected(void)
{
	return current != NULL;
}

void link_answer_start(void)
{
	current->start_due = true;
}

void link_answer_heartbeat(uint64_t counter)
{
	current->heartbeat = counter;
	current->heartbeat_due = true;
}

static void accept_link(void *context, uint32_t events)
{
	struct link *link = current == &links[0] ? &links[1] : &links[0];
	int fd = accept4(listener.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	int size = K8S_OUTPUT_WINDOW;
	pid_t pump;

	(void)context;
	(void)events;
	if (fd < 0)
		return;
	if (!socket_is_ours(fd, &pump)) {
		say("podinit: connection refused: another user");
		close(fd);
		return;
	}
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	close_link(link);
	link->pump = pump;
	k8s_reader_init(&link->reader, link->buffer, sizeof(link->buffer), state.options.session);
	watch_open(&link->watch, fd, link_ready, link);
	watch_want(&link->watch, EPOLLIN);
}

int link_listen(void)
{
	char path[100];
	int fd;

	socket_path(path, sizeof(path), state.options.run, state.options.mode == MODE_JOIN ? state.options.session : 0);
	fd = socket_listen(path);
	if (fd < 0) {
		say("podinit: %s: %s", path, strerror(errno));
		return -1;
	}
	links[0].watch.fd = links[1].watch.fd = -1;
	watch_open(&listener, fd, accept_link, NULL);
	watch_want(&listener, EPOLLIN);
	return 0;
}
