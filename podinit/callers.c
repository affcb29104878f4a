// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "callers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../common/buffer.h"
#include "commands.h"
#include "files.h"
#include "log.h"
#include "socket.h"
#include "watch.h"

/* What a right Slurm node may have sent that a caller has not read: credit, and the last word. */
#define PENDING (K8S_CALL_CREDIT + 2 * K8S_MESSAGE_MAX)

struct caller {
	struct watch watch; /* its connection; closed: nobody is there */
	bool begun;	    /* the Slurm node knows of the call, and has not said its last word */
	bool gone_due;	    /* it is to be told that the caller has ended */
	bool ending;	    /* close once what is pending was written */
	struct k8s_messages messages;
	struct k8s_buffer pending;
	size_t written; /* of pending */
};

static struct watch listener;
static struct caller callers[K8S_CALLS];
static const char *refusal; /* of all, once nobody listens */

static uint32_t number_of(const struct caller *caller)
{
	return (uint32_t)(caller - callers) + 1;
}

static void tell_gone(struct caller *caller)
{
	caller->gone_due = caller->begun &&
			   !commands_send(&(struct k8s_message){ .call = number_of(caller), .kind = K8S_CALL_GONE });
}

/* The slot stays taken until the Slurm node has said its last word. */
static void close_caller(struct caller *caller)
{
	if (caller->watch.fd < 0)
		return;
	watch_close(&caller->watch);
	k8s_buffer_clear(&caller->pending);
	caller->written = 0;
	tell_gone(caller);
}

static void want(struct caller *caller)
{
	uint32_t events = 0;

	if (!caller->ending && commands_have_room())
		events |= EPOLLIN;
	if (caller->written < caller->pending.size)
		events |= EPOLLOUT;
	watch_want(&caller->watch, events);
}

static void write_pending(struct caller *caller)
{
	struct k8s_buffer *pending = &caller->pending;

	while (caller->written < pending->size) {
		ssize_t count = send(caller->watch.fd, pending->bytes + caller->written, pending->size - caller->written,
				     MSG_NOSIGNAL);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0 && errno == EAGAIN) {
			want(caller);
			return;
		}
		if (count < 0) {
			close_caller(caller);
			return;
		}
		caller->written += (size_t)count;
	}
	k8s_buffer_clear(pending);
	caller->written = 0;
	if (caller->ending)
		close_caller(caller);
	else
		want(caller);
}

/* A caller that reads on has little pending: what was written goes before more comes. */
static void compact(struct caller *caller)
{
	struct k8s_buffer *pending = &caller->pending;

	if (!caller->written)
		return;
	memmove(pending->bytes, pending->bytes + caller->written, pending->size - caller->written);
	pending->size -= caller->written;
	caller->written = 0;
}

static void give(struct caller *caller, const struct k8s_message *message)
{
	unsigned char header[K8S_MESSAGE_HEADER];
	struct k8s_message own = *message;

	if (caller->watch.fd < 0)
		return;
	own.call = 0;
	k8s_message_encode(&own, header);
	compact(caller);
	if (k8s_buffer_append(&caller->pending, header, sizeof(header)) ||
	    k8s_buffer_append(&caller->pending, own.payload, own.length)) {
		say("podinit: a call of Slurm's commands is ended: more than its credit came, or no memory");
		close_caller(caller);
		return;
	}
	write_pending(caller);
}

void callers_take(const struct k8s_message *message)
{
	struct caller *caller;

	if (!message->call || message->kind < K8S_CALL_CREDIT_BACK)
		return;
	caller = &callers[message->call - 1];
	if (!caller->begun)
		return;
	if (message->kind == K8S_CALL_EXIT || message->kind == K8S_CALL_REFUSED) {
		caller->begun = caller->gone_due = false;
		caller->ending = true;
	}
	give(caller, message);
}

static bool begin(struct caller *caller)
{
	if (!caller->begun)
		caller->begun = commands_send(&(struct k8s_message){ .call = number_of(caller), .kind = K8S_CALL_BEGIN });
	return caller->begun;
}

static bool is_from_caller(uint8_t kind)
{
	return kind >= K8S_CALL_OPEN && kind <= K8S_CALL_CREDIT_BACK;
}

/* There is room for all of it. */
static int pass_on(struct caller *caller, const unsigned char *bytes, size_t count)
{
	struct k8s_message message;
	int rc;

	while ((rc = k8s_messages_next(&caller->messages, &bytes, &count, &message)) > 0) {
		if (!is_from_caller(message.kind) || !begin(caller))
			return -1;
		message.call = number_of(caller);
		if (!commands_send(&message))
			return -1;
	}
	return rc;
}

static void read_caller(struct caller *caller)
{
	static unsigned char bytes[CALLER_READ];
	ssize_t count;

	if (!commands_have_room()) {
		want(caller);
		return;
	}
	count = read(caller->watch.fd, bytes, sizeof(bytes));
	if (count < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (count <= 0 || pass_on(caller, bytes, (size_t)count))
		close_caller(caller);
	else
		want(caller);
}

static void caller_ready(void *context, uint32_t events)
{
	struct caller *caller = context;

	if (events & EPOLLOUT)
		write_pending(caller);
	if (caller->watch.fd >= 0 && !caller->ending && events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		read_caller(caller);
	else if (caller->watch.fd >= 0 && events & (EPOLLHUP | EPOLLERR))
		close_caller(caller);
}

void callers_resume(void)
{
	for (int i = 0; i < K8S_CALLS; i++) {
		if (callers[i].gone_due)
			tell_gone(&callers[i]);
		if (callers[i].watch.fd >= 0)
			want(&callers[i]);
	}
}

/* One that was never given a slot: the line goes into the socket's own buffer. */
static void refuse(int fd, const char *why)
{
	struct k8s_message message = { .kind = K8S_CALL_REFUSED, .length = (uint32_t)strlen(why) };
	unsigned char bytes[K8S_MESSAGE_HEADER + 256];

	k8s_message_encode(&message, bytes);
	memcpy(bytes + K8S_MESSAGE_HEADER, why, message.length);
	(void)!send(fd, bytes, K8S_MESSAGE_HEADER + message.length, MSG_NOSIGNAL | MSG_DONTWAIT);
	/* Read what it has said, so that closing does not take the line back. */
	shutdown(fd, SHUT_WR);
	while (recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	close(fd);
}

void callers_end(const char *why)
{
	struct k8s_message message = { .kind = K8S_CALL_REFUSED,
				       .length = (uint32_t)strlen(why),
				       .payload = (const unsigned char *)why };

	refusal = why;
	for (int i = 0; i < K8S_CALLS; i++) {
		callers[i].begun = callers[i].gone_due = false;
		callers[i].ending = true;
		give(&callers[i], &message);
	}
}

static struct caller *free_slot(void)
{
	for (int i = 0; i < K8S_CALLS; i++)
		if (callers[i].watch.fd < 0 && !callers[i].begun)
			return &callers[i];
	return NULL;
}

static void take_caller(int fd)
{
	struct caller *caller = refusal || !files_spare_left(fd) ? NULL : free_slot();

	if (!caller) {
		refuse(fd, refusal ? refusal : "too many of Slurm's commands run in this Pod at once");
		return;
	}
	caller->begun = caller->gone_due = caller->ending = false;
	caller->messages.have = 0;
	caller->pending.limit = PENDING;
	watch_open(&caller->watch, fd, caller_ready, caller);
	want(caller);
}

static void accept_caller(void *context, uint32_t events)
{
	int fd = accept4(listener.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	pid_t pid;

	(void)context;
	(void)events;
	if (fd < 0)
		return;
	if (socket_is_ours(fd, &pid)) {
		take_caller(fd);
		return;
	}
	say("podinit: a call of Slurm's commands is refused: another user");
	close(fd);
}

int callers_listen(const char *run)
{
	char path[100];
	int fd;

	snprintf(path, sizeof(path), "%s/" K8S_COMMANDS_SOCKET, run);
	fd = socket_listen(path);
	if (fd < 0)
		return -1;
	for (int i = 0; i < K8S_CALLS; i++)
		callers[i].watch.fd = -1;
	watch_open(&listener, fd, accept_caller, NULL);
	watch_want(&listener, EPOLLIN);
	return 0;
}
