// SPDX-License-Identifier: Apache-2.0
#include "reader.h"

#include <string.h>
#include <unistd.h>

void k8s_reader_init(struct k8s_reader *reader, void *buffer, size_t capacity, uint64_t session)
{
	reader->buffer = buffer;
	reader->capacity = capacity;
	reader->begin = 0;
	reader->end = 0;
	reader->session = session;
}

/* Moves what is left to the front when a whole frame would not fit behind it:
 * seldom, and then at most a frame's bytes are moved. */
static void make_room(struct k8s_reader *reader)
{
	if (reader->begin == reader->end) {
		reader->begin = reader->end = 0;
		return;
	}
	if (reader->capacity - reader->begin >= K8S_READER_MIN)
		return;
	memmove(reader->buffer, reader->buffer + reader->begin, reader->end - reader->begin);
	reader->end -= reader->begin;
	reader->begin = 0;
}

ssize_t k8s_reader_fill(struct k8s_reader *reader, int fd)
{
	ssize_t count;

	make_room(reader);
	count = read(fd, reader->buffer + reader->end, reader->capacity - reader->end);
	if (count > 0)
		reader->end += (size_t)count;
	return count;
}

int k8s_reader_next(struct k8s_reader *reader, struct k8s_frame *frame)
{
	size_t available = reader->end - reader->begin;
	const unsigned char *header = reader->buffer + reader->begin;
	int fault;

	if (available < K8S_FRAME_HEADER)
		return 0;
	fault = k8s_frame_decode(header, reader->session, frame);
	if (fault)
		return fault;
	if (available - K8S_FRAME_HEADER < frame->length)
		return 0;
	frame->payload = header + K8S_FRAME_HEADER;
	reader->begin += K8S_FRAME_HEADER + frame->length;
	return 1;
}
