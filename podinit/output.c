// SPDX-License-Identifier: Apache-2.0
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

#include "clock.h"
#include "outbox.h"

size_t output_room(const struct output *output)
{
	return output->size - (size_t)(output->head - output->acknowledged);
}

/* Reading only when an eighth is free spares wakings for a few bytes each. */
static void want(struct output *output)
{
	watch_want(&output->watch, output_room(output) >= output->size / 8 ? EPOLLIN : 0);
}

/* `count` bytes of the ring from `offset` on, which may go round its end. */
static int pieces_of(const struct output *output, uint64_t offset, size_t count, struct iovec pieces[2])
{
	size_t at = (size_t)(offset % output->size);
	size_t first = output->size - at < count ? output->size - at : count;

	pieces[0].iov_base = output->ring + at;
	pieces[0].iov_len = first;
	pieces[1].iov_base = output->ring;
	pieces[1].iov_len = count - first;
	return count > first ? 2 : 1;
}

static void end(struct output *output)
{
	watch_close(&output->watch);
	outbox_add(output->task);
}

/* One read of all there is room for. A pty says EIO where a pipe says end of file. */
static void read_task(void *context, uint32_t events)
{
	struct output *output = context;
	struct iovec pieces[2];
	ssize_t count;

	(void)events;
	count = readv(output->watch.fd, pieces, pieces_of(output, output->head, output_room(output), pieces));
	if (count < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (count <= 0) {
		end(output);
		return;
	}
	output->head += (uint64_t)count;
	outbox_add(output->task);
	want(output);
}

int output_open(struct output *output, struct task *task, int fd, size_t size)
{
	memset(output, 0, sizeof(*output));
	output->task = task;
	output->size = size;
	output->patience = CLOCK_NEVER;
	watch_open(&output->watch, fd, read_task, output);
	output->ring = malloc(size);
	if (!output->ring) {
		watch_close(&output->watch);
		return -1;
	}
	want(output);
	return 0;
}

void output_append(struct output *output, const void *bytes, size_t count)
{
	struct iovec pieces[2];

	if (!count)
		return;
	pieces_of(output, output->head, count, pieces);
	memcpy(pieces[0].iov_base, bytes, pieces[0].iov_len);
	memcpy(pieces[1].iov_base, (const char *)bytes + pieces[0].iov_len, pieces[1].iov_len);
	output->head += count;
	outbox_add(output->task);
}

void output_say(struct output *output, const char *line)
{
	size_t length = strlen(line);

	if (output->ring && length <= output_room(output))
		output_append(output, line, length);
}

bool output_ended(const struct output *output)
{
	return output->watch.fd < 0;
}

int output_acknowledge(struct output *output, uint64_t offset)
{
	if (offset > output->sent)
		return -1;
	if (offset <= output->acknowledged)
		return 0;
	output->acknowledged = offset;
	want(output);
	return 0;
}

void output_rewind(struct output *output)
{
	output->sent = output->acknowledged;
	output->end_sent = false;
}

size_t output_unsent(const struct output *output, size_t limit, struct iovec pieces[2])
{
	size_t count = (size_t)(output->head - output->sent);

	if (!count)
		return 0;
	if (count > limit)
		count = limit;
	pieces_of(output, output->sent, count, pieces);
	return count;
}

void output_bound(struct output *output, int64_t deadline)
{
	int waiting = 0;

	if (output_ended(output))
		return;
	ioctl(output->watch.fd, FIONREAD, &waiting);
	output->owed = output->head + (uint64_t)waiting;
	output->patience = deadline;
}

int64_t output_check(struct output *output, int64_t now)
{
	if (output_ended(output) || output->patience == CLOCK_NEVER)
		return CLOCK_NEVER;
	if (now < output->patience)
		return output->patience;
	/* Still owed: the reader is slow. Its next acknowledgement leads back here. */
	if (output->head < output->owed)
		return CLOCK_NEVER;
	end(output);
	return CLOCK_NEVER;
}
