// SPDX-License-Identifier: Apache-2.0
#include "calls.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "call_io.h"
#include "commands.h"

/* What commands get to end when the Pod is gone: their steps are ended by Slurm anyway. */
#define END_MS 2000

/* What salloc gets to end after its COMMAND. */
#define HANG_UP_MS 1000

static struct call calls[K8S_CALLS];

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Those of calls that run are freed. */
static size_t all_records(void)
{
	size_t size = 0;

	for (int i = 0; i < K8S_CALLS; i++)
		if (calls[i].used)
			size += calls[i].records.size;
	return size;
}

static void take_opening(struct call *call, const struct k8s_message *message)
{
	if (call->running)
		return;
	if (message->kind == K8S_CALL_RUN)
		call_start(call);
	else if (all_records() + message->length > K8S_ALL_RECORDS)
		call_refuse(call, "too many large calls of Slurm's commands are made in this Pod at once");
	else if (k8s_buffer_append(&call->records, message->payload, message->length))
		call_refuse(call, "arguments, environment and script are together more than 8 MiB");
}

void calls_take(const struct k8s_message *message)
{
	struct call *call = message->call ? &calls[message->call - 1] : NULL;

	if (!call || message->kind > K8S_CALL_CREDIT_BACK)
		return;
	if (message->kind == K8S_CALL_BEGIN) {
		if (!call->used)
			call_begin(call, message->call);
		return;
	}
	if (!call->used)
		return;
	if (message->kind == K8S_CALL_OPEN || message->kind == K8S_CALL_RUN)
		take_opening(call, message);
	else if (message->kind == K8S_CALL_GONE)
		call_terminate(call, now_ms());
	else if (call->running)
		call_take(call, message);
}

static void watch(struct pollfd files[], size_t *count, int fd, short events)
{
	files[*count] = (struct pollfd){ .fd = fd, .events = events };
	++*count;
}

/* Always as many a call, so that calls_move finds them again; those that are not waited for have fd -1. */
size_t calls_watch(struct pollfd files[CALLS_FILES])
{
	size_t count = 0;

	for (int i = 0; i < K8S_CALLS; i++) {
		struct call *call = &calls[i];
		bool reading = call->used && call->running && call_may_read(call);

		watch(files, &count, call->used && call_waits(call) ? call->input : -1, POLLOUT);
		watch(files, &count, reading ? call->terminal : -1, POLLIN);
		for (int output = 0; output < CALL_OUTPUTS; output++)
			watch(files, &count, reading ? call->outputs[output].fd : -1, POLLIN);
	}
	return count;
}

static void move(struct call *call, const struct pollfd files[CALL_FILES])
{
	if (files[0].revents)
		call_write(call);
	if (files[1].revents)
		call_read(call, &call->terminal, K8S_CALL_TERMINAL);
	for (int i = 0; i < CALL_OUTPUTS; i++)
		if (files[2 + i].revents)
			call_read(call, &call->outputs[i].fd, call->outputs[i].kind);
	if (call->reaped)
		call_drain(call);
	call_settle(call);
}

void calls_move(const struct pollfd *files, size_t count)
{
	for (size_t i = 0; i < K8S_CALLS && CALL_FILES * (i + 1) <= count; i++)
		if (calls[i].used && calls[i].running)
			move(&calls[i], files + CALL_FILES * i);
}

void calls_reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (int i = 0; i < K8S_CALLS; i++)
			if (calls[i].used && calls[i].pid == pid)
				call_reaped(&calls[i], status);
}

/* Sends the signal where it is time. Returns the milliseconds until then, or -1 where there is nothing to wait for. */
static int64_t insist(const struct call *call, int64_t at, int64_t now, int number)
{
	if (!at)
		return -1;
	if (now < at)
		return at - now;
	call_signal(call, number);
	return -1;
}

static int64_t earlier(int64_t one, int64_t other)
{
	return one < 0 || (other >= 0 && other < one) ? other : one;
}

/* Where slurmctld revokes the allocation just as COMMAND ends, a thread of salloc (22.05) takes COMMAND's
 * status from the other, which would then look for it for ever, but for SIGHUP. */
static int64_t hang_up(struct call *call, int64_t now)
{
	int64_t left;

	if (!call->command_ended || call->hung_up)
		return -1;
	if (!call->hang_up_at)
		call->hang_up_at = now + HANG_UP_MS;
	left = insist(call, call->hang_up_at, now, SIGHUP);
	call->hung_up = left < 0;
	return left;
}

int calls_insist(void)
{
	int64_t now = now_ms(), next = -1;

	for (int i = 0; i < K8S_CALLS; i++) {
		struct call *call = &calls[i];

		if (!call->used || !call->pid)
			continue;
		next = earlier(next, insist(call, call->kill_at, now, SIGKILL));
		next = earlier(next, hang_up(call, now));
	}
	return (int)next;
}

static bool any_runs(void)
{
	for (int i = 0; i < K8S_CALLS; i++)
		if (calls[i].used && calls[i].pid)
			return true;
	return false;
}

void calls_end(void)
{
	const struct timespec moment = { .tv_nsec = 20 * 1000 * 1000 };
	int64_t end = now_ms() + END_MS;

	for (int i = 0; i < K8S_CALLS; i++)
		if (calls[i].used)
			call_terminate(&calls[i], now_ms());
	for (calls_reap(); any_runs() && now_ms() < end; calls_reap())
		nanosleep(&moment, NULL);
	for (int i = 0; i < K8S_CALLS; i++)
		if (calls[i].used && calls[i].pid) {
			call_signal(&calls[i], SIGKILL);
			waitpid(calls[i].pid, NULL, 0);
			call_reaped(&calls[i], 0);
		}
	for (int i = 0; i < K8S_CALLS; i++)
		if (calls[i].used)
			call_close(&calls[i]);
}
