// SPDX-License-Identifier: Apache-2.0
/* Slurm's commands as a hostile Pod calls them: messages of include/commands.h at the relay, up to the
 * fork. The site offers "true" and, queries alone, "scontrol", but their directory is empty. */
#define _GNU_SOURCE
#include "fuzz.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../common/records.h"
#include "../../relay/calls.h"
#include "../../relay/commands.h"
#include "../../relay/rules.h"

static bool open_calls[K8S_CALLS + 1];
static struct k8s_messages *messages;
static char folder[] = "/tmp/fuzz-calls-XXXXXX";

/* What goes back to the Pod, in the place of relay/commands.c. */
void commands_send(uint32_t call, uint8_t kind, const void *payload, uint32_t length)
{
	FUZZ_CHECK(call >= 1 && call <= K8S_CALLS && length <= K8S_MESSAGE_MAX && (payload || !length));
	FUZZ_CHECK(kind == K8S_CALL_REFUSED); /* nothing can have run */
	open_calls[call] = false;
}

bool commands_have_room(void)
{
	return true;
}

/* The first byte is the size of the pieces. */
void fuzz_one(const unsigned char *data, size_t size)
{
	static struct pollfd files[CALLS_FILES];
	size_t piece = size ? (size_t)data[0] * data[0] + 1 : 1, at = 1;
	struct k8s_message message;
	struct stat status;
	int rc = 0;

	messages->have = 0;
	while (at < size && rc >= 0) {
		size_t count = size - at < piece ? size - at : piece;
		const unsigned char *bytes = data + at;

		at += count;
		while ((rc = k8s_messages_next(messages, &bytes, &count, &message)) > 0) {
			FUZZ_CHECK(message.call <= K8S_CALLS && message.length <= K8S_MESSAGE_MAX);
			if (message.kind == K8S_CALL_BEGIN && message.call)
				open_calls[message.call] = true;
			calls_take(&message);
			if (message.kind == K8S_CALL_RUN && message.call)
				FUZZ_CHECK(!open_calls[message.call]); /* refused: none is there to run */
		}
		calls_move(files, calls_watch(files));
	}
	for (uint32_t call = 1; call <= K8S_CALLS; call++)
		calls_take(&(struct k8s_message){ .call = call, .kind = K8S_CALL_GONE });
	FUZZ_CHECK(calls_insist() < 0);
	for (uint32_t call = 1; call <= K8S_CALLS; call++)
		FUZZ_CHECK(!open_calls[call]);
	FUZZ_CHECK(!stat(folder, &status) && status.st_nlink == 2); /* no script is left */
}

static void put(struct k8s_buffer *all, uint8_t kind, const void *payload, size_t length)
{
	struct k8s_message message = { .call = 7, .kind = kind, .length = (uint32_t)length };
	unsigned char header[K8S_MESSAGE_HEADER];

	k8s_message_encode(&message, header);
	if (k8s_buffer_append(all, header, sizeof(header)) || k8s_buffer_append(all, payload, length))
		abort();
}

static void record(struct k8s_buffer *row, unsigned char tag, const void *value, size_t length)
{
	if (k8s_record_append(row, tag, K8S_TASK_ALL, value, (uint32_t)length))
		abort();
}

static void add_call(const char *const *words, bool script)
{
	struct k8s_buffer row = { .limit = FUZZ_MOST }, all = { .limit = FUZZ_MOST };

	for (; *words; words++)
		record(&row, K8S_RECORD_ARGV, *words, strlen(*words));
	record(&row, K8S_RECORD_ENV, "SLURM_JOB_ID=7", 14);
	record(&row, K8S_RECORD_DIRECTORY, "/home", 5);
	record(&row, K8S_RECORD_TTY, "\0\x18\0\x50", 4);
	record(&row, K8S_RECORD_TERMINALS, "\7", 1);
	if (script) {
		record(&row, K8S_RECORD_SCRIPT_WORD, "\0\0\0\1", 4);
		record(&row, K8S_RECORD_SCRIPT, "#!/bin/sh\n", 10);
	}
	if (k8s_buffer_append(&all, "\xff", 1))
		abort();
	put(&all, K8S_CALL_BEGIN, NULL, 0);
	put(&all, K8S_CALL_OPEN, row.bytes, row.size / 2);
	put(&all, K8S_CALL_OPEN, row.bytes + row.size / 2, row.size - row.size / 2);
	put(&all, K8S_CALL_RUN, NULL, 0);
	put(&all, K8S_CALL_INPUT, "text", 4);
	put(&all, K8S_CALL_SIGNAL, "\0\0\0\2", 4);
	put(&all, K8S_CALL_CREDIT_BACK, "\0\0\1\0", 4);
	put(&all, K8S_CALL_GONE, NULL, 0);
	fuzz_add(all.bytes, all.size);
	k8s_buffer_clear(&row);
	k8s_buffer_clear(&all);
}

void fuzz_seeds(void)
{
	add_call((const char *const[]){ "true", "job.sh", NULL }, true);
	add_call((const char *const[]){ "scontrol", "-M", "lab", "show", "job", NULL }, false);
	add_call((const char *const[]){ "scontrol", "update", "job=1", NULL }, false);
	add_call((const char *const[]){ "salloc", "--no-shell", NULL }, false);
}

/* What the core says in START. */
__attribute__((constructor)) static void say_rules(void)
{
	struct k8s_buffer row = { .limit = K8S_FRAME_PAYLOAD };

	messages = calloc(1, sizeof(*messages));
	if (!messages || !mkdtemp(folder) || setenv("TMPDIR", folder, 1))
		abort();
	record(&row, K8S_RECORD_COMMAND, "true", 4);
	record(&row, K8S_RECORD_COMMAND, "salloc", 6);
	record(&row, K8S_RECORD_COMMAND, "scontrol queries", 16);
	record(&row, K8S_RECORD_PATH, "/nonexistent", 12);
	if (rules_take(row.bytes, row.size))
		abort();
	k8s_buffer_clear(&row);
}

__attribute__((destructor)) static void remove_folder(void)
{
	rmdir(folder);
}
