/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.h - Slurm's commands inside the Pod: what a task's `srun` and the Slurm node say
 * to each other.
 *
 *    srun (podinit)  <->  process 1  <->  pump  <->  core  <->  relay commands  ->  the real srun
 *
 * A call is one command that runs. Process 1 joins all calls of its container to the streams
 * of a pseudo task, K8S_TASK_COMMANDS of frames.h: its stdout leads to the Slurm node, its
 * stdin back. The core carries these bytes and does not look inside. On them, and on each
 * caller's socket to process 1, there are messages: a header of K8S_MESSAGE_HEADER bytes,
 * numbers big-endian, and `length` bytes:
 *
 *    0 u32 call    on the streams: the call's slot, 1 to K8S_CALLS; on a caller's socket 0
 *    4 u8  kind    enum k8s_message_kind
 *    5 u8[3]       zero
 *    8 u32 length  at most K8S_MESSAGE_MAX
 *
 * Every receiver treats a message as untrusted. One that makes no sense ends the caller's
 * connection, or, on the streams, all calls.
 *
 * salloc's COMMAND runs in the Pod, as a child of the caller. On the Slurm node salloc has in its
 * place the relay (relay/allocated.h), which gets 4 bytes from the caller, COMMAND's wait status,
 * and whose own bytes, in messages ALLOCATED, are messages again, with call 0: OPEN (records: A
 * COMMAND's words, none for the user's shell; E variables of the allocation; D where --chdir
 * names a directory), RUN, and SIGNAL, for COMMAND's process group.
 *
 * Messages of input and output are counted by credit, headers included: neither side sends
 * more of them than K8S_CALL_CREDIT bytes beyond what the other has said that it consumed, so
 * that each call needs a buffer of that size and none waits for another.
 */
#ifndef K8S_COMMANDS_H
#define K8S_COMMANDS_H

#define K8S_MESSAGE_HEADER 12
#define K8S_MESSAGE_MAX 16384
#define K8S_CALLS 64
#define K8S_CALL_CREDIT (64 * 1024)

/* The most that the records of one call may take: arguments, environment, the script of sbatch;
 * and those of all calls that are being opened. */
#define K8S_CALL_RECORDS (8 * 1024 * 1024)
#define K8S_ALL_RECORDS (4 * K8S_CALL_RECORDS)

enum k8s_message_kind {
	/* Process 1 alone: the slot has a new call; its caller has ended. A slot is free again
	 * after EXIT or REFUSED; until the next BEGIN what comes for it is dropped. */
	K8S_CALL_BEGIN = 1,
	K8S_CALL_GONE = 2,
	/* Caller to Slurm node. */
	K8S_CALL_OPEN = 3, /* a piece of the call's records: A E D S T F */
	K8S_CALL_RUN = 4,  /* they are complete */
	K8S_CALL_INPUT = 5, /* bytes for its stdin */
	K8S_CALL_INPUT_END = 6,
	K8S_CALL_SIGNAL = 7,  /* u32 signal number, to the command's process group */
	K8S_CALL_WINSIZE = 8, /* u16 rows, u16 columns */
	K8S_CALL_COMMAND_END = 9, /* u32 wait status of salloc's COMMAND */
	/* Both ways: u32 bytes of the other side's messages that were consumed. */
	K8S_CALL_CREDIT_BACK = 10,
	/* Slurm node to caller. */
	K8S_CALL_OUTPUT = 11,
	K8S_CALL_ERROR = 12,
	K8S_CALL_TERMINAL = 13,	 /* what the command's terminal shows */
	K8S_CALL_ALLOCATED = 14, /* bytes of the relay in the place of salloc's COMMAND */
	K8S_CALL_EXIT = 15,	 /* u32 wait status; the last of a call */
	K8S_CALL_REFUSED = 16,	 /* one line, without newline, why nothing was run; the last of a call */
};

/* The caller's stdin is a terminal, whose size is in record T, and so are those of stdout and
 * stderr whose bits are in this record, one byte: 1 << fd. */
#define K8S_RECORD_TERMINALS 'F'
/* u32: the number of the word that stands for the script, whose bytes are in records S. */
#define K8S_RECORD_SCRIPT_WORD 'Y'

/* The variables of the real command's environment that carry the caller's, its image and its
 * directory; see docs/architecture.md. */
#define K8S_CARRIED_PREFIX "SLURM_K8S_ENV_"
#define K8S_INSIDE_IMAGE "SLURM_K8S_INSIDE_IMAGE"
#define K8S_INSIDE_DIRECTORY "SLURM_K8S_INSIDE_DIRECTORY"
#define K8S_INSIDE_EXPORT "SLURM_K8S_INSIDE_EXPORT" /* the plugin's word to the core: --export */

/* To the plugin in salloc, and from it to the relay that is COMMAND: the number of a socket; the
 * directory of --chdir, as it was typed. */
#define K8S_ALLOCATE_FD "SLURM_K8S_ALLOCATE_FD"
#define K8S_ALLOCATED_FD "SLURM_K8S_ALLOCATED_FD"
#define K8S_ALLOCATED_DIRECTORY "SLURM_K8S_ALLOCATED_DIRECTORY"
#define K8S_ALLOCATED_WORD "--allocated" /* the relay's first argument then; COMMAND's words follow */

/* Where callers find process 1, and the links to podinit under the commands' names. */
#define K8S_COMMANDS_SOCKET "commands"
#define K8S_COMMANDS_BIN "bin"

#endif
