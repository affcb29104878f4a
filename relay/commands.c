// SPDX-License-Identifier: Apache-2.0
#include "commands.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../common/buffer.h"
#include "../common/reader.h"
#include "calls.h"
#include "rules.h"
#include "spawn.h"

/* So much of output may wait for the core before commands have to. */
#define UP_HIGH (128 * 1024)

static struct {
	int socket;
	unsigned char buffer[2 * K8S_READER_MIN];
	struct k8s_reader reader;
	bool told; /* START came: what may be run is known */
	struct k8s_messages down;
	uint64_t have, acknowledged; /* bytes of the stream from the Pod: taken, told so */
	struct k8s_buffer up;	     /* messages to the Pod */
	uint64_t sent, returned;     /* bytes of the stream to the Pod: in frames, acknowledged */
	struct k8s_buffer frames;    /* what the socket has not taken */
	size_t written;		     /* of frames */
} line;

bool commands_called(int argc, char **argv)
{
	return argc == 2 && !strcmp(argv[1], "--commands") && getenv(SPAWN_VARIABLE) && !getenv("SLURM_K8S_RELAY_FD");
}

void commands_send(uint32_t call, uint8_t kind, const void *payload, uint32_t length)
{
	struct k8s_message message = { .call = call, .kind = kind, .length = length };
	unsigned char header[K8S_MESSAGE_HEADER];

	k8s_message_encode(&message, header);
	/* Without memory nothing can be promised to anybody. */
	if (k8s_buffer_append(&line.up, header, sizeof(header)) || k8s_buffer_append(&line.up, payload, length))
		exit(1);
}

bool commands_have_room(void)
{
	return line.up.size < UP_HIGH;
}

static void add_frame(struct k8s_frame frame, const void *payload)
{
	unsigned char header[K8S_FRAME_HEADER];

	k8s_frame_encode(&frame, header);
	if (k8s_buffer_append(&line.frames, header, sizeof(header)) ||
	    k8s_buffer_append(&line.frames, payload, frame.length))
		exit(1);
}

static bool add_data(void)
{
	size_t room = K8S_INPUT_WINDOW - (size_t)(line.sent - line.returned), some = line.up.size;

	if (some > room)
		some = room;
	if (some > K8S_FRAME_PAYLOAD)
		some = K8S_FRAME_PAYLOAD;
	if (!some)
		return false;
	add_frame((struct k8s_frame){ .type = K8S_FRAME_DATA, .stream = K8S_STDIN, .length = (uint32_t)some, .offset = line.sent },
		  line.up.bytes);
	line.sent += some;
	line.up.size -= some;
	memmove(line.up.bytes, line.up.bytes + some, line.up.size);
	return true;
}

static bool add_acknowledgement(void)
{
	if (line.acknowledged == line.have)
		return false;
	line.acknowledged = line.have;
	add_frame((struct k8s_frame){ .type = K8S_FRAME_ACK, .stream = K8S_STDOUT, .offset = line.have }, NULL);
	return true;
}

static bool waits(void)
{
	return line.written < line.frames.size;
}

/* Returns 0, or -1: the core is gone. */
static int write_link(void)
{
	while (waits() || add_acknowledgement() || add_data()) {
		ssize_t count = send(line.socket, line.frames.bytes + line.written, line.frames.size - line.written,
				     MSG_NOSIGNAL | MSG_DONTWAIT);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return errno == EAGAIN ? 0 : -1;
		line.written += (size_t)count;
		if (!waits()) {
			k8s_buffer_clear(&line.frames);
			line.written = 0;
		}
	}
	return 0;
}

static int take_data(const struct k8s_frame *frame)
{
	const unsigned char *bytes = frame->payload;
	size_t count = frame->length;
	struct k8s_message message;
	int rc;

	if (frame->stream != K8S_STDOUT || frame->offset != line.have || !line.told)
		return -1;
	while ((rc = k8s_messages_next(&line.down, &bytes, &count, &message)) > 0)
		calls_take(&message);
	line.have += frame->length;
	return rc;
}

static int take(const struct k8s_frame *frame)
{
	switch (frame->type) {
	case K8S_FRAME_START:
		line.told = true;
		return rules_take(frame->payload, frame->length);
	case K8S_FRAME_DATA:
		return take_data(frame);
	case K8S_FRAME_ACK:
		if (frame->offset > line.sent)
			return -1;
		if (frame->offset > line.returned)
			line.returned = frame->offset;
		return 0;
	case K8S_FRAME_HEARTBEAT:
		if (!(frame->flags & K8S_FLAG_REPLY))
			add_frame((struct k8s_frame){ .type = K8S_FRAME_HEARTBEAT, .flags = K8S_FLAG_REPLY, .offset = frame->offset },
				  NULL);
		return 0;
	default: /* EXIT: the step is over */
		return -1;
	}
}

/* Returns 0, or -1: the core is gone, or what comes makes no sense. */
static int read_link(void)
{
	ssize_t count = k8s_reader_fill(&line.reader, line.socket);
	struct k8s_frame frame;
	int rc;

	if (count < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (count <= 0)
		return -1;
	while ((rc = k8s_reader_next(&line.reader, &frame)) > 0)
		if (take(&frame))
			return -1;
	return rc;
}

/* What Slurm signals are the job's tasks; this process ends when the core says so. */
static int watch_children(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigfillset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static int open_link(void)
{
	line.socket = atoi(getenv(SPAWN_VARIABLE));
	unsetenv(SPAWN_VARIABLE);
	line.up.limit = 16 * 1024 * 1024;
	line.frames.limit = 4 * K8S_READER_MIN;
	k8s_reader_init(&line.reader, line.buffer, sizeof(line.buffer), 0);
	add_frame((struct k8s_frame){ .type = K8S_FRAME_HELLO }, NULL);
	if (fcntl(line.socket, F_SETFD, FD_CLOEXEC))
		return -1;
	return fcntl(line.socket, F_SETFL, fcntl(line.socket, F_GETFL) | O_NONBLOCK);
}

int commands_run(void)
{
	static struct pollfd files[2 + CALLS_FILES];
	struct signalfd_siginfo info;
	int children = watch_children();

	if (children < 0 || open_link())
		return 1;
	while (!write_link()) {
		size_t count = 2 + calls_watch(files + 2);

		files[0] = (struct pollfd){ .fd = line.socket, .events = (short)(POLLIN | (waits() ? POLLOUT : 0)) };
		files[1] = (struct pollfd){ .fd = children, .events = POLLIN };
		if (poll(files, count, calls_insist()) < 0)
			continue;
		if (files[1].revents) {
			while (read(children, &info, sizeof(info)) > 0)
				;
			calls_reap();
		}
		if (files[0].revents & (POLLIN | POLLHUP | POLLERR) && read_link())
			break;
		calls_move(files + 2, count - 2);
	}
	calls_end();
	return 0;
}
