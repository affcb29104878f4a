// SPDX-License-Identifier: Apache-2.0
/* The codec of common/ against the vectors that the Go side proves too, and against a
 * hundred thousand mutations of them. Run from the repository's root, under ASan. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../common/bytes.h"
#include "../../common/reader.h"
#include "../../common/records.h"
#include "frames_vectors.h"

#define MUTATIONS 100000

static struct vector *vectors;
static size_t vector_count;
static unsigned char reader_buffer[2 * K8S_READER_MIN];

/* A reader that has read `bytes`, `step` at a time; stops at the first fault. Returns what
 * the last k8s_reader_next said, and the last frame. */
static int read_bytes(const struct blob *blob, uint64_t session, size_t step, struct k8s_frame *frame)
{
	struct k8s_reader reader;
	int ends[2], rc = 0;

	assert_int_equal(pipe(ends), 0);
	k8s_reader_init(&reader, reader_buffer, sizeof(reader_buffer), session);
	for (size_t at = 0; at < blob->size && rc == 0; at += step) {
		size_t some = blob->size - at < step ? blob->size - at : step;

		assert_int_equal(write(ends[1], blob->bytes + at, some), some);
		while (some) {
			ssize_t got = k8s_reader_fill(&reader, ends[0]);

			assert_true(got > 0);
			some -= (size_t)got;
		}
		rc = k8s_reader_next(&reader, frame);
	}
	close(ends[0]);
	close(ends[1]);
	return rc;
}

static void check_frame(char *const *w)
{
	struct blob payload = blob_of(w[8]), bytes = blob_of(w[9]);
	struct k8s_frame want = { .type = (uint8_t)atoi(w[2]),
				  .stream = (uint8_t)atoi(w[3]),
				  .flags = (uint8_t)atoi(w[4]),
				  .session = strtoull(w[5], NULL, 16),
				  .task = (uint32_t)strtoul(w[6], NULL, 10),
				  .offset = strtoull(w[7], NULL, 10),
				  .length = (uint32_t)payload.size };
	unsigned char header[K8S_FRAME_HEADER];
	struct k8s_frame got;

	k8s_frame_encode(&want, header);
	assert_memory_equal(header, bytes.bytes, sizeof(header));
	assert_int_equal(bytes.size, sizeof(header) + payload.size);
	for (size_t step = 1; step <= 4096; step = step * 8 + 1) {
		if (bytes.size / step > 10000)
			continue;
		assert_int_equal(read_bytes(&bytes, want.session, step, &got), 1);
		assert_int_equal(got.type, want.type);
		assert_int_equal(got.stream, want.stream);
		assert_int_equal(got.flags, want.flags);
		assert_true(got.session == want.session && got.offset == want.offset);
		assert_int_equal(got.task, want.task);
		assert_int_equal(got.length, want.length);
		if (payload.size)
			assert_memory_equal(got.payload, payload.bytes, payload.size);
	}
	blob_free(&payload);
	blob_free(&bytes);
}

static void check_error(char *const *w)
{
	struct blob bytes = blob_of(w[4]);
	struct k8s_frame frame;
	int rc = read_bytes(&bytes, strtoull(w[3], NULL, 16), bytes.size, &frame);

	assert_true(rc < 0);
	assert_string_equal(k8s_fault_name(rc), w[2]);
	blob_free(&bytes);
}

static void check_partial(char *const *w)
{
	struct blob bytes = blob_of(w[3]);
	struct k8s_frame frame;

	assert_int_equal(read_bytes(&bytes, strtoull(w[2], NULL, 16), 1, &frame), 0);
	blob_free(&bytes);
}

/* Compares with TAG:TASK:VALUE, and writes the record again. */
static void check_record(const struct k8s_entry *entry, const char *word, struct k8s_buffer *again)
{
	char *task;
	uint32_t number = (uint32_t)strtoul(word + 2, &task, 10);
	struct blob value = blob_of(task + 1);

	assert_int_equal(entry->tag, word[0]);
	assert_int_equal(entry->task, number);
	assert_int_equal(entry->length, value.size);
	if (value.size)
		assert_memory_equal(entry->value, value.bytes, value.size);
	assert_int_equal(k8s_record_append(again, entry->tag, number, value.bytes, (uint32_t)value.size), 0);
	blob_free(&value);
}

static void check_records(const struct vector *vector)
{
	struct blob bytes = blob_of(vector->words[2]);
	struct k8s_buffer again = { .limit = K8S_RECORDS_MAX };
	struct k8s_entry entry;
	size_t at = 0;

	for (size_t i = 3; i < vector->count; i++) {
		assert_int_equal(k8s_records_next(bytes.bytes, bytes.size, &at, &entry), 1);
		check_record(&entry, vector->words[i], &again);
	}
	assert_int_equal(k8s_records_next(bytes.bytes, bytes.size, &at, &entry), 0);
	assert_int_equal(again.size, bytes.size);
	if (bytes.size)
		assert_memory_equal(again.bytes, bytes.bytes, bytes.size);
	k8s_buffer_clear(&again);
	blob_free(&bytes);
}

static void check_badrecords(char *const *w)
{
	struct blob bytes = blob_of(w[3]);
	struct k8s_entry entry;
	size_t at = 0;
	int rc;

	while ((rc = k8s_records_next(bytes.bytes, bytes.size, &at, &entry)) > 0)
		;
	assert_true(rc < 0);
	assert_string_equal(k8s_fault_name(rc), w[2]);
	blob_free(&bytes);
}

static void check(const struct vector *vector)
{
	const char *kind = vector->words[0];

	if (!strcmp(kind, "frame"))
		check_frame(vector->words);
	else if (!strcmp(kind, "error"))
		check_error(vector->words);
	else if (!strcmp(kind, "partial"))
		check_partial(vector->words);
	else if (!strcmp(kind, "records"))
		check_records(vector);
	else if (!strcmp(kind, "badrecords"))
		check_badrecords(vector->words);
	else
		fail_msg("unknown kind of vector: %s", kind);
}

static void test_vectors(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < vector_count; i++) {
		print_message("  %s %s\n", vectors[i].words[0], vectors[i].words[1]);
		check(&vectors[i]);
	}
}

/* Many frames in one read, then a bad one: the good ones come out first. */
static void test_frames_before_a_fault(void **unused)
{
	struct k8s_frame frame = { .type = K8S_FRAME_HEARTBEAT, .session = 7 };
	unsigned char bytes[4 * K8S_FRAME_HEADER];
	struct k8s_reader reader;
	int ends[2];

	(void)unused;
	for (int i = 0; i < 3; i++) {
		frame.offset = (uint64_t)i;
		k8s_frame_encode(&frame, bytes + i * K8S_FRAME_HEADER);
	}
	memset(bytes + 3 * K8S_FRAME_HEADER, 0xff, K8S_FRAME_HEADER);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], bytes, sizeof(bytes)), sizeof(bytes));
	k8s_reader_init(&reader, reader_buffer, sizeof(reader_buffer), 7);
	assert_int_equal(k8s_reader_fill(&reader, ends[0]), sizeof(bytes));
	for (int i = 0; i < 3; i++) {
		assert_int_equal(k8s_reader_next(&reader, &frame), 1);
		assert_int_equal(frame.offset, i);
	}
	assert_int_equal(k8s_reader_next(&reader, &frame), K8S_FAULT_MAGIC);
	close(ends[0]);
	close(ends[1]);
}

static void test_buffer_limit(void **unused)
{
	struct k8s_buffer buffer = { .limit = 20 };

	(void)unused;
	assert_int_equal(k8s_record_append(&buffer, 'A', 0, "12345678", 8), 0);
	assert_int_equal(k8s_record_append(&buffer, 'A', 0, "", 0), -1);
	assert_int_equal(errno, EMSGSIZE);
	assert_int_equal(buffer.size, 20);
	k8s_buffer_clear(&buffer);
	buffer.limit = 15;
	assert_int_equal(k8s_record_append(&buffer, 'A', 0, "12345678", 8), -1);
	assert_int_equal(buffer.size, 0);
	k8s_buffer_clear(&buffer);
}

/* The same numbers in every run. */
static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static void mutate(struct blob *blob, uint32_t *random)
{
	for (uint32_t i = next_random(random) % 4; blob->size && i < 4; i++)
		blob->bytes[next_random(random) % blob->size] ^= (unsigned char)(1u << next_random(random) % 8);
	if (next_random(random) % 4 == 0)
		blob->size -= blob->size ? next_random(random) % blob->size : 0;
	/* Exactly as long as it claims to be. */
	blob->bytes = realloc(blob->bytes, blob->size ? blob->size : 1);
}

/* Whatever comes out must lie within what went in. */
static void decode_anything(const struct blob *blob)
{
	struct k8s_reader reader;
	struct k8s_frame frame;
	struct k8s_entry entry;
	size_t at = 0, sum = 0;

	memcpy(reader_buffer, blob->bytes, blob->size);
	k8s_reader_init(&reader, reader_buffer, sizeof(reader_buffer), 0x0123456789abcdef);
	reader.end = blob->size;
	while (k8s_reader_next(&reader, &frame) > 0) {
		assert_true(frame.length <= K8S_FRAME_PAYLOAD);
		assert_true(frame.payload + frame.length <= reader_buffer + blob->size);
	}
	while (k8s_records_next(blob->bytes, blob->size, &at, &entry) > 0)
		for (uint32_t i = 0; i < entry.length; i++)
			sum += entry.value[i];
	assert_true(at <= blob->size && sum <= blob->size * 255);
}

static void test_mutations(void **unused)
{
	uint32_t random = 2463534242u;

	(void)unused;
	for (int i = 0; i < MUTATIONS; i++) {
		struct vector *vector = &vectors[next_random(&random) % vector_count];
		const char *kind = vector->words[0];
		struct blob blob;

		if (!strcmp(vector->words[1], "data-full"))
			continue;
		blob = blob_of(!strcmp(kind, "records") ? vector->words[2] :
			       !strcmp(kind, "frame")	? vector->words[9] :
			       !strcmp(kind, "error")	? vector->words[4] :
							  vector->words[3]);
		mutate(&blob, &random);
		decode_anything(&blob);
		blob_free(&blob);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_frames_before_a_fault),
		cmocka_unit_test(test_buffer_limit),
		cmocka_unit_test(test_mutations),
	};

	vectors = vectors_read(argc > 1 ? argv[1] : "tests/vectors/frames.txt", &vector_count);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
