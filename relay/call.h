/* SPDX-License-Identifier: Apache-2.0 */
/* call.h - one command that runs for a task of the Pod. */
#ifndef RELAY_CALL_H
#define RELAY_CALL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../common/buffer.h"

/* A stream of the command's on its way to the caller; fd -1: it has ended. */
struct call_output {
	int fd;
	uint8_t kind; /* of the messages */
};

/* Beside stdout and stderr: the socket of the relay in the place of salloc's COMMAND. */
#define CALL_OUTPUTS 3
#define CALL_ALLOCATED 2

struct call {
	bool used, running;
	bool gone; /* so is the caller: what the command still says is dropped */
	bool is_salloc;
	bool allocated, command_ended; /* salloc's COMMAND was begun; its caller said that it has ended */
	uint32_t number;
	struct k8s_buffer records; /* until it runs */
	pid_t pid;		   /* leads its process group; 0: reaped */
	bool reaped;
	int status;
	int input, terminal; /* our ends; -1: none. A terminal is input and output too */
	bool input_ending;
	struct k8s_buffer waiting;     /* input that the command has not read */
	size_t taken, returned;	       /* bytes of waiting written; credit not yet given back */
	size_t credit;		       /* output that may be sent */
	struct call_output outputs[CALL_OUTPUTS];
	char *script, *script_directory; /* made for sbatch, removed at its end */
	int64_t kill_at, hang_up_at;	 /* milliseconds; 0: not */
	bool hung_up;			 /* salloc was told, after the end of its COMMAND */
};

/* Begins a call with this number; `call` is not used. */
void call_begin(struct call *call, uint32_t number);

/* Runs it with the records that came. Where it cannot the caller is told, and the call is over. */
void call_start(struct call *call);

/* Frees what it holds; the call is not used then. Its process is not asked. */
void call_close(struct call *call);

/* Ends it unstarted, with a line for the caller. */
void call_refuse(struct call *call, const char *why);

/* The command's process is gone. */
void call_reaped(struct call *call, int status);

/* Says the last word where the process is gone and all output was sent; the call is not used then. */
void call_settle(struct call *call);

/* Signals the command's process group, and of salloc itself alone. */
void call_signal(const struct call *call, int number);

/* salloc's COMMAND has ended, says the caller: a big-endian wait status. */
void call_command_ended(struct call *call, const unsigned char status[4]);

/* Asks the command to end, for want of a caller, and remembers to insist. */
void call_terminate(struct call *call, int64_t now);

#endif
