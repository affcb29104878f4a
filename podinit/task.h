/* SPDX-License-Identifier: Apache-2.0 */
/* task.h - one task of the step. */
#ifndef PODINIT_TASK_H
#define PODINIT_TASK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "../include/frames.h"
#include "input.h"
#include "output.h"
#include "plan.h"

struct task {
	uint32_t number;
	pid_t pid; /* of its main process; 0: none, or reaped */
	bool ended;
	int status;	     /* as of wait(2), once ended */
	struct rusage usage; /* of the main process and what it reaped */
	uint32_t oom_kills;  /* in the container, from START to this task's end */
	uint64_t peak;	     /* bytes of memory, once ended */
	bool channel;	     /* the pseudo task of commands.h: one output stream that never ends */
	bool exit_sent;	     /* EXIT went out on this connection */
	int terminal;	     /* a second fd of the pty's master, for its size; -1: no terminal */
	struct input input;
	struct output outputs[2]; /* stdout, stderr */
	/* The queue of tasks with something to send, outbox.h. */
	struct task *next;
	bool queued;
	int turn; /* which stream was served last */
};

/* Starts task `number` of `tasks` as `plan` says; `script` is the path that stands for
 * the job's script, `script_errno` why it could not be written, or 0. A task that cannot
 * be started has ended, with the reason in its stderr: there is no error. */
void task_start(struct task *task, uint32_t number, const struct plan *plan, const char *script, int script_errno);

/* Its output streams have ended: EXIT may go behind what is unsent. */
bool task_drained(const struct task *task);

/* Sends a signal to the main process, or to its process group. Nothing happens when it has ended. */
void task_signal(const struct task *task, int signal, bool group);

/* Sets the terminal's size, if there is a terminal. */
void task_resize(const struct task *task, uint16_t rows, uint16_t columns);

/* Writes the payload of its EXIT, see frames.h. The task has ended. */
void task_exit_payload(const struct task *task, unsigned char payload[K8S_EXIT_PAYLOAD]);

#endif
