// SPDX-License-Identifier: Apache-2.0
#include "input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/uio.h>
#include <termios.h>
#include <unistd.h>

#include "../include/frames.h"
#include "outbox.h"

static int pieces_of(const struct input *input, uint64_t offset, size_t count, struct iovec pieces[2])
{
	size_t at = (size_t)(offset % K8S_INPUT_WINDOW);
	size_t first = K8S_INPUT_WINDOW - at < count ? K8S_INPUT_WINDOW - at : count;

	pieces[0].iov_base = input->ring + at;
	pieces[0].iov_len = first;
	pieces[1].iov_base = input->ring;
	pieces[1].iov_len = count - first;
	return count > first ? 2 : 1;
}

/* A terminal is not closed, it is told. In raw mode the character would be data. */
static void type_end(int fd)
{
	struct termios mode;

	if (tcgetattr(fd, &mode) || !(mode.c_lflag & ICANON))
		return;
	if (write(fd, &mode.c_cc[VEOF], 1) < 0)
		return;
}

static void finish(struct input *input)
{
	if (input->terminal && input->watch.fd >= 0)
		type_end(input->watch.fd);
	watch_close(&input->watch);
}

void input_abandon(struct input *input)
{
	watch_close(&input->watch);
	input->written = input->have;
	outbox_add(input->task);
}

/* As much as the pipe takes; what it does not take waits for EPOLLOUT. */
static void write_task(struct input *input)
{
	struct iovec pieces[2];
	ssize_t count;

	while (input->written < input->have) {
		int n = pieces_of(input, input->written, (size_t)(input->have - input->written), pieces);

		count = writev(input->watch.fd, pieces, n);
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0 && errno == EAGAIN) {
			watch_want(&input->watch, EPOLLOUT);
			return;
		}
		if (count < 0) {
			input_abandon(input);
			return;
		}
		input->written += (uint64_t)count;
		outbox_add(input->task);
	}
	watch_want(&input->watch, 0);
	if (input->ending)
		finish(input);
}

static void write_ready(void *context, uint32_t events)
{
	(void)events;
	write_task(context);
}

void input_open(struct input *input, struct task *task, int fd, bool terminal)
{
	memset(input, 0, sizeof(*input));
	input->task = task;
	input->terminal = terminal;
	watch_open(&input->watch, fd, write_ready, input);
}

static void swallow(struct input *input, size_t count)
{
	input->have += count;
	input->written = input->have;
	outbox_add(input->task);
}

static int keep(struct input *input, const unsigned char *bytes, size_t count)
{
	struct iovec pieces[2];

	if (!input->ring)
		input->ring = malloc(K8S_INPUT_WINDOW);
	if (!input->ring)
		return -1;
	pieces_of(input, input->have, count, pieces);
	memcpy(pieces[0].iov_base, bytes, pieces[0].iov_len);
	memcpy(pieces[1].iov_base, bytes + pieces[0].iov_len, pieces[1].iov_len);
	input->have += count;
	return 0;
}

int input_take(struct input *input, uint64_t offset, const unsigned char *bytes, size_t count)
{
	uint64_t known;

	if (offset > input->have)
		return -1;
	known = input->have - offset;
	if (known >= count)
		return 0;
	bytes += known;
	count -= (size_t)known;
	if (input->ending || count > K8S_INPUT_WINDOW - (size_t)(input->have - input->written))
		return -1;
	if (input->watch.fd < 0) {
		swallow(input, count);
		return 0;
	}
	if (keep(input, bytes, count))
		return -1;
	write_task(input);
	return 0;
}

int input_end(struct input *input, uint64_t offset)
{
	if (offset != input->have)
		return -1;
	input->ending = true;
	if (input->written == input->have)
		finish(input);
	return 0;
}
