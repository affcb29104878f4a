// SPDX-License-Identifier: Apache-2.0
#include "orders.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "../common/bytes.h"
#include "commands.h"
#include "link.h"
#include "log.h"
#include "processes.h"
#include "start.h"
#include "state.h"

/* The task a frame is for, NULL: there is none. */
static struct task *task_of(const struct k8s_frame *frame)
{
	return frame->task < state.count ? &state.tasks[frame->task] : NULL;
}

static bool is_for_commands(const struct k8s_frame *frame)
{
	return frame->task == K8S_TASK_COMMANDS && commands_task();
}

static int take_commands(const struct k8s_frame *frame)
{
	if (frame->stream != K8S_STDIN)
		return -1;
	if (frame->type == K8S_FRAME_EOF)
		return commands_end(frame->offset);
	return commands_take(frame->offset, frame->payload, frame->length);
}

static int take_input(const struct k8s_frame *frame)
{
	struct task *task = task_of(frame);

	if (is_for_commands(frame))
		return take_commands(frame);
	/* That nobody runs commands is known where none are offered. */
	if (frame->task == K8S_TASK_COMMANDS && frame->type == K8S_FRAME_EOF)
		return 0;
	if (!task || frame->stream != K8S_STDIN)
		return -1;
	if (frame->type == K8S_FRAME_EOF)
		return input_end(&task->input, frame->offset);
	return input_take(&task->input, frame->offset, frame->payload, frame->length);
}

static int take_acknowledgement(const struct k8s_frame *frame)
{
	struct task *task = task_of(frame);
	int rc;

	if (is_for_commands(frame) && frame->stream == K8S_STDOUT) {
		rc = output_acknowledge(&commands_task()->outputs[0], frame->offset);
		commands_resume();
		return rc;
	}
	if (!task || (frame->stream != K8S_STDOUT && frame->stream != K8S_STDERR))
		return -1;
	return output_acknowledge(&task->outputs[frame->stream - K8S_STDOUT], frame->offset);
}

/* Signals and sizes may come when there is no task yet: nobody to tell. */
static int is_for_tasks(const struct k8s_frame *frame)
{
	return !state.count || frame->task == K8S_TASK_ALL || task_of(frame);
}

/* A core that does not know what its last pump brought says it again. */
static bool is_repeated(uint64_t order)
{
	static uint64_t last;

	if (order && order <= last)
		return true;
	if (order)
		last = order;
	return false;
}

static int take_signal(const struct k8s_frame *frame)
{
	uint32_t number;

	if (frame->length != 4 || !is_for_tasks(frame))
		return -1;
	number = k8s_get_u32(frame->payload);
	if (number < 1 || number >= _NSIG)
		return -1;
	if (is_repeated(frame->offset))
		return 0;
	if (frame->flags & K8S_FLAG_EVERY) {
		processes_signal((int)number);
		return 0;
	}
	for (uint32_t i = 0; i < state.count; i++)
		if (frame->task == K8S_TASK_ALL || frame->task == i)
			task_signal(&state.tasks[i], (int)number, frame->flags & K8S_FLAG_GROUP);
	return 0;
}

static int take_size(const struct k8s_frame *frame)
{
	if (frame->length != 4 || !is_for_tasks(frame))
		return -1;
	for (uint32_t i = 0; i < state.count; i++)
		if (frame->task == K8S_TASK_ALL || frame->task == i)
			task_resize(&state.tasks[i], k8s_get_u16(frame->payload), k8s_get_u16(frame->payload + 2));
	return 0;
}

static int take(const struct k8s_frame *frame)
{
	switch (frame->type) {
	case K8S_FRAME_HELLO:
		return 0; /* its later pieces, if a newer core has any */
	case K8S_FRAME_START:
		return start_take(frame);
	case K8S_FRAME_DATA:
	case K8S_FRAME_EOF:
		return take_input(frame);
	case K8S_FRAME_ACK:
		return take_acknowledgement(frame);
	case K8S_FRAME_HEARTBEAT:
		if (!(frame->flags & K8S_FLAG_REPLY))
			link_answer_heartbeat(frame->offset);
		return 0;
	case K8S_FRAME_SIGNAL:
		return take_signal(frame);
	case K8S_FRAME_WINSIZE:
		return take_size(frame);
	case K8S_FRAME_DETACH:
		state.detached = state.phase == K8S_STATE_ENDED;
		return 0;
	default:
		return -1; /* EXIT is ours to say */
	}
}

int orders_take(const struct k8s_frame *frame)
{
	int rc = take(frame);

	if (rc)
		say("podinit: connection refused: frame of type %d, stream %d, task %u, offset %llu makes no sense",
		    frame->type, frame->stream, frame->task, (unsigned long long)frame->offset);
	return rc;
}

void orders_forget(void)
{
	start_forget();
}
