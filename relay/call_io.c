// SPDX-License-Identifier: Apache-2.0
#include "call_io.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "../common/bytes.h"
#include "commands.h"

/* Credit is given back in lots. */
#define CREDIT_LOT (K8S_CALL_CREDIT / 4)

static void give_back(struct call *call, size_t bytes)
{
	unsigned char payload[4];

	call->returned += bytes;
	if (call->returned < CREDIT_LOT)
		return;
	k8s_put_u32(payload, (uint32_t)call->returned);
	call->returned = 0;
	commands_send(call->number, K8S_CALL_CREDIT_BACK, payload, sizeof(payload));
}

/* A terminal is not closed, it is told; in raw mode the character would be data. */
static void end_input(struct call *call)
{
	struct termios mode;

	if (call->terminal >= 0 && !tcgetattr(call->input, &mode) && mode.c_lflag & ICANON)
		(void)!write(call->input, &mode.c_cc[VEOF], 1);
	close(call->input);
	call->input = -1;
}

static void drop_input(struct call *call)
{
	give_back(call, call->waiting.size - call->taken);
	k8s_buffer_clear(&call->waiting);
	call->taken = 0;
}

bool call_waits(const struct call *call)
{
	return call->input >= 0 && call->taken < call->waiting.size;
}

void call_write(struct call *call)
{
	while (call_waits(call)) {
		ssize_t count = write(call->input, call->waiting.bytes + call->taken, call->waiting.size - call->taken);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0 && errno == EAGAIN)
			return;
		if (count < 0) {
			drop_input(call);
			close(call->input);
			call->input = -1;
			return;
		}
		call->taken += (size_t)count;
		give_back(call, (size_t)count);
	}
	k8s_buffer_clear(&call->waiting);
	call->taken = 0;
	if (call->input >= 0 && call->input_ending)
		end_input(call);
}

/* What was written goes before more comes; what is beyond the credit is a breach. */
static int keep(struct call *call, const struct k8s_message *message)
{
	struct k8s_buffer *waiting = &call->waiting;

	if (call->taken) {
		waiting->size -= call->taken;
		memmove(waiting->bytes, waiting->bytes + call->taken, waiting->size);
		call->taken = 0;
	}
	return k8s_buffer_append(waiting, message->payload, message->length);
}

static void take_input(struct call *call, const struct k8s_message *message)
{
	give_back(call, K8S_MESSAGE_HEADER);
	if (call->input < 0 || call->input_ending) {
		give_back(call, message->length);
		return;
	}
	if (keep(call, message))
		call_signal(call, SIGKILL);
	else
		call_write(call);
}

static void take_credit(struct call *call, size_t bytes)
{
	/* More than was ever sent is none. */
	call->credit += bytes;
	if (call->credit > K8S_CALL_CREDIT)
		call->credit = K8S_CALL_CREDIT;
}

static void take_size(const struct call *call, const unsigned char *payload)
{
	struct winsize size = { .ws_row = k8s_get_u16(payload), .ws_col = k8s_get_u16(payload + 2) };

	if (call->terminal >= 0)
		ioctl(call->terminal, TIOCSWINSZ, &size);
}

void call_take(struct call *call, const struct k8s_message *message)
{
	switch (message->kind) {
	case K8S_CALL_INPUT:
		take_input(call, message);
		break;
	case K8S_CALL_INPUT_END:
		call->input_ending = true;
		call_write(call);
		break;
	case K8S_CALL_SIGNAL:
		call_signal(call, (int)k8s_get_u32(message->payload));
		break;
	case K8S_CALL_WINSIZE:
		take_size(call, message->payload);
		break;
	case K8S_CALL_COMMAND_END:
		call_command_ended(call, message->payload);
		break;
	case K8S_CALL_CREDIT_BACK:
		take_credit(call, k8s_get_u32(message->payload));
		break;
	default:
		break;
	}
}

bool call_may_read(const struct call *call)
{
	return call->gone || (call->credit > K8S_MESSAGE_HEADER && commands_have_room());
}

/* Returns what read did. */
static ssize_t read_some(struct call *call, int *fd, uint8_t kind)
{
	static unsigned char bytes[K8S_MESSAGE_MAX];
	size_t most = call->gone ? sizeof(bytes) : call->credit - K8S_MESSAGE_HEADER;
	ssize_t count = read(*fd, bytes, most < sizeof(bytes) ? most : sizeof(bytes));

	if (count < 0 && (errno == EAGAIN || errno == EINTR))
		return -1;
	if (count > 0 && call->gone)
		return count;
	if (count > 0) {
		call->allocated |= kind == K8S_CALL_ALLOCATED;
		call->credit -= (size_t)count + K8S_MESSAGE_HEADER;
		commands_send(call->number, kind, bytes, (uint32_t)count);
		return count;
	}
	/* A terminal says EIO where a pipe says end of file. */
	close(*fd);
	*fd = -1;
	return 0;
}

void call_read(struct call *call, int *fd, uint8_t kind)
{
	if (*fd >= 0 && call_may_read(call))
		read_some(call, fd, kind);
}

/* What others still hold open is not waited for: the command's own is in the pipe by now. */
static void drain(struct call *call, int *fd, uint8_t kind)
{
	ssize_t count = 1;

	while (*fd >= 0 && count > 0 && call_may_read(call))
		count = read_some(call, fd, kind);
	if (*fd >= 0 && count < 0) {
		close(*fd);
		*fd = -1;
	}
}

void call_drain(struct call *call)
{
	drain(call, &call->terminal, K8S_CALL_TERMINAL);
	for (int i = 0; i < CALL_OUTPUTS; i++)
		drain(call, &call->outputs[i].fd, call->outputs[i].kind);
}
