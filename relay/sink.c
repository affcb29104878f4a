// SPDX-License-Identifier: Apache-2.0
#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../include/frames.h"
#include "line.h"
#include "terminal.h"

#define NOTICES (64 * 1024)

struct sink sinks[4];

static unsigned char rings[2][K8S_OUTPUT_WINDOW];
static unsigned char notices[NOTICES];
static int flags_before[3];

static void unblock(int fd)
{
	struct stat status;

	flags_before[fd] = fcntl(fd, F_GETFL);
	if (flags_before[fd] >= 0 && !fstat(fd, &status) && !S_ISREG(status.st_mode))
		fcntl(fd, F_SETFL, flags_before[fd] | O_NONBLOCK);
}

void sinks_open(void)
{
	sinks[K8S_STDOUT] = (struct sink){ .fd = STDOUT_FILENO, .ring = rings[0], .size = sizeof(rings[0]) };
	sinks[K8S_STDERR] = (struct sink){ .fd = STDERR_FILENO, .ring = rings[1], .size = sizeof(rings[1]) };
	sinks[K8S_NOTICE] = (struct sink){ .fd = STDERR_FILENO, .ring = notices, .size = sizeof(notices) };
	unblock(STDOUT_FILENO);
	unblock(STDERR_FILENO);
}

void sinks_close(void)
{
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if (flags_before[fd] >= 0)
			fcntl(fd, F_SETFL, flags_before[fd]);
}

/* A task that ignores errors would go on, so do we; the user is told where it can be seen. */
static void give_up(struct sink *sink)
{
	int cause = errno;
	int other = sink->fd == STDOUT_FILENO ? STDERR_FILENO : STDOUT_FILENO;

	sink->failed = true;
	sink->written = sink->have;
	if (cause != EPIPE)
		complain_to(other, "%s of the job is lost from here on: %s",
			    sink->fd == STDOUT_FILENO ? "standard output" : "standard error", strerror(cause));
}

/* Returns how many of `count` bytes the file took, which is all once it has failed. */
static size_t write_file(struct sink *sink, const struct iovec *pieces, int number, size_t count)
{
	ssize_t n;

	do {
		n = writev(sink->fd, pieces, number);
	} while (n < 0 && errno == EINTR);
	if (n >= 0)
		return (size_t)n;
	if (errno == EAGAIN)
		return 0;
	give_up(sink);
	return count;
}

static int pieces_of(const struct sink *sink, uint64_t offset, size_t count, struct iovec pieces[2])
{
	size_t at = (size_t)(offset % sink->size);
	size_t first = sink->size - at < count ? sink->size - at : count;

	pieces[0] = (struct iovec){ sink->ring + at, first };
	pieces[1] = (struct iovec){ sink->ring, count - first };
	return count > first ? 2 : 1;
}

static void keep(struct sink *sink, const unsigned char *bytes, size_t count)
{
	struct iovec pieces[2];

	pieces_of(sink, sink->have, count, pieces);
	memcpy(pieces[0].iov_base, bytes, pieces[0].iov_len);
	memcpy(pieces[1].iov_base, bytes + pieces[0].iov_len, pieces[1].iov_len);
	sink->have += count;
}

/* Straight to the file as long as it takes all; a file on disk always does. */
static size_t write_through(struct sink *sink, const unsigned char *bytes, size_t count)
{
	size_t total = 0, n = 1;

	while (total < count && n) {
		struct iovec piece = { (void *)(bytes + total), count - total };

		n = sink->failed ? count - total : write_file(sink, &piece, 1, count - total);
		total += n;
	}
	sink->have += total;
	sink->written = sink->have;
	return total;
}

/* Notices stay whole where stderr has bytes waiting: those come first. */
static bool may_write_through(const struct sink *sink)
{
	return sink->written == sink->have &&
	       (sink != &sinks[K8S_NOTICE] || !sink_waits(&sinks[K8S_STDERR]));
}

static size_t room(const struct sink *sink)
{
	return sink->size - (size_t)(sink->have - sink->written);
}

/* Returns 0, or -1: the ring has no room for what the file does not take. */
static int append(struct sink *sink, const unsigned char *bytes, size_t count)
{
	size_t taken = may_write_through(sink) ? write_through(sink, bytes, count) : 0;

	if (count - taken > room(sink))
		return -1;
	if (count > taken)
		keep(sink, bytes + taken, count - taken);
	return 0;
}

int sink_take(int stream, uint64_t offset, const unsigned char *bytes, size_t count)
{
	struct sink *sink = &sinks[stream];
	uint64_t known;

	if (offset > sink->have)
		return -1;
	known = sink->have - offset;
	if (known >= count)
		return 0;
	return append(sink, bytes + known, count - (size_t)known);
}

/* How many of `bytes` there are up to a newline, that one left out. */
static size_t line_of(const unsigned char *bytes, size_t count)
{
	const unsigned char *end = memchr(bytes, '\n', count);

	return end ? (size_t)(end - bytes) : count;
}

/* A raw terminal does not return to the line's begin by itself. */
static void notice_to_terminal(struct sink *sink, const unsigned char *bytes, size_t count)
{
	while (count) {
		size_t line = line_of(bytes, count);

		(void)append(sink, bytes, line);
		if (line == count)
			return;
		(void)append(sink, (const unsigned char *)"\r\n", 2);
		bytes += line + 1;
		count -= line + 1;
	}
}

void sink_notice(const unsigned char *bytes, size_t count)
{
	struct sink *sink = &sinks[K8S_NOTICE];

	/* Twice: as if all were newlines. */
	if (terminal_is_raw() && 2 * count <= room(sink))
		notice_to_terminal(sink, bytes, count);
	else if (count <= room(sink))
		(void)append(sink, bytes, count);
}

bool sink_waits(const struct sink *sink)
{
	return sink->written < sink->have;
}

void sink_write(struct sink *sink)
{
	struct iovec pieces[2];
	size_t count = (size_t)(sink->have - sink->written);
	size_t taken = write_file(sink, pieces, pieces_of(sink, sink->written, count, pieces), count);

	if (!sink->failed)
		sink->written += taken;
}

bool sinks_empty(void)
{
	return !sink_waits(&sinks[K8S_STDOUT]) && !sink_waits(&sinks[K8S_STDERR]) && !sink_waits(&sinks[K8S_NOTICE]);
}
