// SPDX-License-Identifier: Apache-2.0
#include "outbox.h"

#include <stddef.h>
#include <string.h>

#include "commands.h"
#include "state.h"

static struct task *first, **last = &first;

void outbox_add(struct task *task)
{
	if (task->queued)
		return;
	task->queued = true;
	task->next = NULL;
	*last = task;
	last = &task->next;
}

static struct task *take_first(void)
{
	struct task *task = first;

	if (!task)
		return NULL;
	first = task->next;
	if (!first)
		last = &first;
	task->queued = false;
	return task;
}

static void rewind_task(struct task *task)
{
	task->input.told = 0;
	task->exit_sent = false;
	output_rewind(&task->outputs[0]);
	output_rewind(&task->outputs[1]);
	outbox_add(task);
}

void outbox_rewind(void)
{
	for (uint32_t i = 0; i < state.count; i++)
		rewind_task(&state.tasks[i]);
	if (commands_task())
		rewind_task(commands_task());
}

static void add_piece(struct outgoing *outgoing, const void *bytes, size_t length)
{
	if (!length)
		return;
	outgoing->pieces[outgoing->count].iov_base = (void *)bytes;
	outgoing->pieces[outgoing->count++].iov_len = length;
}

static void begin(struct outgoing *outgoing, struct k8s_frame frame)
{
	frame.session = state.options.session;
	k8s_frame_encode(&frame, outgoing->header);
	outgoing->output = NULL;
	outgoing->count = 0;
	add_piece(outgoing, outgoing->header, sizeof(outgoing->header));
}

void outgoing_frame(struct outgoing *outgoing, struct k8s_frame frame, const void *payload)
{
	begin(outgoing, frame);
	add_piece(outgoing, payload, frame.length);
}

static int next_acknowledgement(struct outgoing *outgoing, struct task *task)
{
	struct k8s_frame frame = { .type = K8S_FRAME_ACK, .task = task->number, .offset = task->input.written };

	if (task->input.told == task->input.written)
		return 0;
	task->input.told = task->input.written;
	begin(outgoing, frame);
	return 1;
}

static int next_data(struct outgoing *outgoing, struct task *task, int which)
{
	struct output *output = &task->outputs[which];
	struct iovec pieces[2];
	size_t length = output_unsent(output, K8S_FRAME_PAYLOAD, pieces);
	struct k8s_frame frame = { .type = K8S_FRAME_DATA,
				   .stream = (uint8_t)(K8S_STDOUT + which),
				   .task = task->number,
				   .length = (uint32_t)length,
				   .offset = output->sent };

	if (!length)
		return 0;
	begin(outgoing, frame);
	add_piece(outgoing, pieces[0].iov_base, pieces[0].iov_len);
	add_piece(outgoing, pieces[1].iov_base, pieces[1].iov_len);
	outgoing->output = output;
	outgoing->end = output->sent + length;
	return 1;
}

static int next_end(struct outgoing *outgoing, struct task *task, int which)
{
	struct output *output = &task->outputs[which];
	struct k8s_frame frame = { .type = K8S_FRAME_EOF,
				   .stream = (uint8_t)(K8S_STDOUT + which),
				   .task = task->number,
				   .offset = output->head };

	if (output->end_sent || !output_ended(output) || output->sent != output->head)
		return 0;
	output->end_sent = true;
	begin(outgoing, frame);
	return 1;
}

static int next_exit(struct outgoing *outgoing, struct task *task)
{
	struct k8s_frame frame = { .type = K8S_FRAME_EXIT, .task = task->number, .length = K8S_EXIT_PAYLOAD };

	if (task->exit_sent || !task->ended || !task->outputs[0].end_sent || !task->outputs[1].end_sent)
		return 0;
	task->exit_sent = true;
	task_exit_payload(task, outgoing->small);
	outgoing_frame(outgoing, frame, outgoing->small);
	return 1;
}

/* Takes turns between the streams, so that neither starves behind the other. */
static int next_of_task(struct outgoing *outgoing, struct task *task)
{
	int turn = task->turn ^= 1;

	if (task->channel)
		return next_acknowledgement(outgoing, task) || next_data(outgoing, task, 0);
	return next_acknowledgement(outgoing, task) || next_data(outgoing, task, turn) ||
	       next_data(outgoing, task, turn ^ 1) || next_end(outgoing, task, 0) || next_end(outgoing, task, 1) ||
	       next_exit(outgoing, task);
}

int outbox_next(struct outgoing *outgoing)
{
	struct task *task;

	while ((task = take_first())) {
		if (!next_of_task(outgoing, task))
			continue;
		/* There may be more; the other tasks come first. */
		outbox_add(task);
		return 1;
	}
	return 0;
}

void outgoing_advance(struct outgoing *outgoing, size_t bytes)
{
	int gone = 0;

	while (gone < outgoing->count && bytes >= outgoing->pieces[gone].iov_len)
		bytes -= outgoing->pieces[gone++].iov_len;
	outgoing->count -= gone;
	memmove(outgoing->pieces, outgoing->pieces + gone, (size_t)outgoing->count * sizeof(outgoing->pieces[0]));
	if (outgoing->count) {
		outgoing->pieces[0].iov_base = (char *)outgoing->pieces[0].iov_base + bytes;
		outgoing->pieces[0].iov_len -= bytes;
	} else if (outgoing->output) {
		/* Only a whole frame counts as sent: no one can acknowledge half of one. */
		outgoing->output->sent = outgoing->end;
	}
}
