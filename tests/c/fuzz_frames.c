// SPDX-License-Identifier: Apache-2.0
/* Frames in C, as relay and podinit read them: pieces of any size, records of HELLO and START, and
 * podinit's plan of what to run. Begins with the vectors that prove both sides. */
#define _GNU_SOURCE
#include "fuzz.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../common/buffer.h"
#include "../../common/bytes.h"
#include "../../common/reader.h"
#include "../../common/records.h"
#include "../../podinit/plan.h"
#include "frames_vectors.h"

#define SESSION 0x0123456789abcdefu

static int pipe_ends[2] = { -1, -1 };
static unsigned char *room; /* of the reader, exactly as large as it must be */
static unsigned sum; /* every byte that is handed out is read */

static void read_bytes(const unsigned char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		sum += bytes[i];
}

static void use_plan(const struct plan *plan)
{
	uint32_t tasks[] = { 0, plan->tasks - 1, K8S_TASK_ALL };

	FUZZ_CHECK(plan->tasks >= 1 && plan->tasks <= 4096);
	for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++)
		for (const char *tag = "AEDRHULSTBCPK"; *tag; tag++) {
			const struct k8s_entry *entry;
			size_t at = 0;

			while ((entry = plan_next(plan, tasks[i], (unsigned char)*tag, &at))) {
				read_bytes(entry->value, entry->length);
				FUZZ_CHECK(!entry->value[entry->length]);
			}
		}
}

static void use_records(const struct k8s_buffer *row)
{
	struct k8s_buffer again = { .limit = K8S_RECORDS_MAX }, start = { .limit = K8S_RECORDS_MAX + 1 };
	struct k8s_entry entry;
	struct plan plan;
	const char *why = NULL;
	size_t at = 0;
	int rc;

	while ((rc = k8s_records_next(row->bytes, row->size, &at, &entry)) > 0) {
		FUZZ_CHECK(!k8s_record_append(&again, entry.tag, entry.task, entry.value, entry.length));
		read_bytes(entry.value, entry.length);
	}
	/* What was accepted is what the same records are written as. */
	FUZZ_CHECK(again.size == at && (!at || !memcmp(again.bytes, row->bytes, at)));
	FUZZ_CHECK(!k8s_buffer_append(&start, row->bytes, row->size));
	if (!plan_read(&plan, &start, &why)) {
		FUZZ_CHECK(!rc);
		use_plan(&plan);
		plan_clear(&plan);
	} else {
		FUZZ_CHECK(why);
	}
	k8s_buffer_clear(&again);
	k8s_buffer_clear(&start);
}

static void use_frame(const struct k8s_frame *frame, struct k8s_buffer *row)
{
	unsigned char header[K8S_FRAME_HEADER];

	FUZZ_CHECK(frame->length <= K8S_FRAME_PAYLOAD && frame->session == SESSION);
	read_bytes(frame->payload, frame->length);
	k8s_frame_encode(frame, header);
	FUZZ_CHECK(!memcmp(header, frame->payload - K8S_FRAME_HEADER, K8S_FRAME_HEADER));
	if (frame->type != K8S_FRAME_HELLO && frame->type != K8S_FRAME_START)
		return;
	if (k8s_buffer_append(row, frame->payload, frame->length) || frame->flags & K8S_FLAG_MORE)
		return;
	use_records(row);
	k8s_buffer_clear(row);
}

/* The first byte is the size of the pieces. */
void fuzz_one(const unsigned char *data, size_t size)
{
	size_t piece = size ? (size_t)data[0] * data[0] + 1 : 1, at = 1;
	struct k8s_buffer row = { .limit = K8S_RECORDS_MAX };
	struct k8s_reader reader;
	struct k8s_frame frame;
	int rc = 0;

	k8s_reader_init(&reader, room, K8S_READER_MIN, SESSION);
	while (at < size && rc >= 0) {
		size_t some = size - at < piece ? size - at : piece;
		ssize_t count = write(pipe_ends[1], data + at, some);

		FUZZ_CHECK(count > 0);
		at += (size_t)count;
		for (ssize_t left = count; left > 0 && rc >= 0;) {
			ssize_t got = k8s_reader_fill(&reader, pipe_ends[0]);

			FUZZ_CHECK(got > 0); /* a reader that wants more always has room */
			left -= got;
			while ((rc = k8s_reader_next(&reader, &frame)) > 0)
				use_frame(&frame, &row);
		}
	}
	while (read(pipe_ends[0], room, K8S_READER_MIN) > 0)
		;
	k8s_buffer_clear(&row);
}

static void add(const struct blob *blob)
{
	unsigned char data[FUZZ_MOST] = { 40 };

	if (blob->size + 1 > sizeof(data))
		return;
	memcpy(data + 1, blob->bytes, blob->size);
	fuzz_add(data, blob->size + 1);
}

void fuzz_seeds(void)
{
	static struct vector *vectors; /* kept, see vectors_read */
	size_t count;

	vectors = vectors_read("tests/vectors/frames.txt", &count);
	for (size_t i = 0; i < count; i++) {
		struct blob blob;

		if (strcmp(vectors[i].words[0], "frame"))
			continue;
		blob = blob_of(vectors[i].words[vectors[i].count - 1]);
		add(&blob);
		blob_free(&blob);
	}
}

__attribute__((constructor)) static void open_pipe(void)
{
	room = malloc(K8S_READER_MIN);
	if (!room || pipe2(pipe_ends, O_NONBLOCK | O_CLOEXEC))
		abort();
}
