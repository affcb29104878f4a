// SPDX-License-Identifier: Apache-2.0
#include "hello.h"

#include <string.h>

#include "../common/bytes.h"
#include "../common/records.h"
#include "commands.h"
#include "state.h"

static int append_input(struct k8s_buffer *records, const struct task *task)
{
	unsigned char have[8];

	k8s_put_u64(have, task->input.have);
	return k8s_record_append(records, K8S_RECORD_INPUT, task->number, have, sizeof(have));
}

int hello_make(struct hello *hello)
{
	unsigned char phase[4];
	int failed;

	hello_clear(hello);
	hello->records.limit = K8S_RECORDS_MAX;
	k8s_put_u32(phase, state.phase);
	failed = k8s_record_append(&hello->records, K8S_RECORD_STATE, K8S_TASK_ALL, phase, sizeof(phase));
	failed |= k8s_record_append(&hello->records, K8S_RECORD_VERSION, K8S_TASK_ALL, PODINIT_VERSION,
				    strlen(PODINIT_VERSION));
	for (uint32_t i = 0; i < state.count; i++)
		failed |= append_input(&hello->records, &state.tasks[i]);
	if (commands_task())
		failed |= append_input(&hello->records, commands_task());
	hello->due = true;
	return failed;
}

int hello_next(struct hello *hello, struct outgoing *outgoing)
{
	struct k8s_frame frame = { .type = K8S_FRAME_HELLO, .task = K8S_TASK_ALL };
	size_t left = hello->records.size - hello->at;

	if (!hello->due)
		return 0;
	if (left > K8S_FRAME_PAYLOAD) {
		left = K8S_FRAME_PAYLOAD;
		frame.flags = K8S_FLAG_MORE;
	} else {
		hello->due = false;
	}
	frame.length = (uint32_t)left;
	outgoing_frame(outgoing, frame, hello->records.bytes + hello->at);
	hello->at += left;
	return 1;
}

void hello_clear(struct hello *hello)
{
	k8s_buffer_clear(&hello->records);
	hello->at = 0;
	hello->due = false;
}
