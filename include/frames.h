/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames.h - the one frame format that relay, core and podinit speak.
 *
 * relay  <-> core:    a stream socketpair on the Slurm node.
 * core   <-> podinit: the stdin and stdout of an exec'ed pump, which copies
 *                     bytes to and from podinit's socket and knows no frames.
 *
 * A frame is a header of K8S_FRAME_HEADER bytes, all numbers big-endian, and
 * `length` bytes of payload:
 *
 *    0 u32 magic     K8S_FRAME_MAGIC
 *    4 u8  version   K8S_FRAME_VERSION; another one ends the connection
 *    5 u8  type      enum k8s_frame_type
 *    6 u8  stream    enum k8s_stream, 0 where the type has none
 *    7 u8  flags     K8S_FLAG_*
 *    8 u64 session   one number per incarnation and step, chosen by the core at
 *                    random, never 0 on the way to and from podinit; 0 between
 *                    relay and core, whose socketpair names the session already
 *   16 u32 task      task number local to the node, or K8S_TASK_ALL; 0 between
 *                    relay and core, whose socketpair is one task's
 *   20 u32 length    bytes of payload, at most K8S_FRAME_PAYLOAD
 *   24 u64 offset    place in the stream of the payload's first byte
 *
 * Every receiver treats a frame as untrusted: a wrong magic, version, session,
 * task, length, or an offset that leaves a gap ends the connection.
 *
 * The same vectors (tests/vectors/frames.txt) prove the C and the Go side.
 */
#ifndef K8S_FRAMES_H
#define K8S_FRAMES_H

#define K8S_FRAME_MAGIC 0x534b3846u /* "SK8F" */
#define K8S_FRAME_VERSION 1
#define K8S_FRAME_HEADER 32
#define K8S_FRAME_PAYLOAD 65536
#define K8S_TASK_ALL 0xffffffffu
/* A pseudo task of a container: Slurm's commands that its tasks call, see commands.h. Its stdout
 * leads to the Slurm node, its stdin back; it has no stderr and no EXIT, and EOF of its stdin says
 * that there is nobody on the Slurm node any more. The relay of its socket sends a HELLO
 * without records; the core's START to it carries C, P and E. */
#define K8S_TASK_COMMANDS 0xfffffffeu

/* The most that a sender may have unacknowledged on one output stream; the ring
 * of podinit is never larger. Input: what a relay may send ahead. */
#define K8S_OUTPUT_WINDOW (1024 * 1024)
/* Less where there are many tasks: each of a container's output streams, two a task, has its share of
 * this, but not less than K8S_OUTPUT_LEAST. */
#define K8S_OUTPUT_TOTAL (8 * 1024 * 1024)
#define K8S_OUTPUT_LEAST (64 * 1024)
#define K8S_INPUT_WINDOW (256 * 1024)

/* The most that the records of one HELLO or START may take together: a script
 * (Slurm's own default limit is 4 MB) and an environment beside it. */
#define K8S_RECORDS_MAX (16 * 1024 * 1024)

enum k8s_frame_type {
	/* First frame on every connection, either way; payload: records.
	 * relay -> core: what slurmstepd would have exec'ed (A E D U L S T B O).
	 * podinit -> core: its state (X V) and, per task, the input it has (I).
	 * core -> podinit: nothing but the session it expects. */
	K8S_FRAME_HELLO = 1,
	/* core -> podinit: records (N A E D R H U L S T B O C) of what to run, sent once the
	 * Pod may start. podinit answers START with no payload when its tasks
	 * are forked. A START to a podinit that has started is ignored. */
	K8S_FRAME_START = 2,
	/* Bytes of `stream` from `offset` on. Output: podinit -> core -> relay.
	 * Input: relay -> core -> podinit. K8S_NOTICE: core -> relay, lines of
	 * the core's own for the task's stderr, with offsets of their own. */
	K8S_FRAME_DATA = 3,
	/* All bytes of `stream` before `offset` have been delivered: written by
	 * the relay to the job's file, or by podinit to the task's stdin. */
	K8S_FRAME_ACK = 4,
	/* core -> relay, podinit. Answered by the same frame (same offset, a
	 * counter) with K8S_FLAG_REPLY. podinit ends its tasks when nothing came
	 * from a core for its --orphan-timeout. */
	K8S_FRAME_HEARTBEAT = 5,
	/* relay -> core -> podinit; payload: u32 signal number (Linux's).
	 * To the task's process alone, unless flags widen it.
	 * core -> podinit: offset is the order's number in the session, from 1 on; what a
	 * broken connection may not have brought is said again, and podinit ignores numbers
	 * that are not above the last one's. A heartbeat behind it tells that it came. */
	K8S_FRAME_SIGNAL = 6,
	/* relay -> core -> podinit; payload: u16 rows, u16 columns. */
	K8S_FRAME_WINSIZE = 7,
	/* `stream` ends; offset: its length. */
	K8S_FRAME_EOF = 8,
	/* podinit -> core -> relay: the task ended; payload: struct below, 32
	 * bytes. From podinit only after EOF of its output streams was sent.
	 * The relay ends as the status says, once its writes are done. */
	K8S_FRAME_EXIT = 9,
	/* core -> podinit: everything is acknowledged, exits included: go.
	 * podinit waits for it before it exits; without a core, for --linger at most. */
	K8S_FRAME_DETACH = 10,
};

/* EXIT's payload: u32 wait status as of wait(2); u32 processes that the kernel
 * killed for want of memory in the container; u64 user and u64 system time in
 * microseconds of the task and its reaped children; u64 peak memory in bytes. */
#define K8S_EXIT_PAYLOAD 32

enum k8s_stream { K8S_STDIN = 0, K8S_STDOUT = 1, K8S_STDERR = 2, K8S_NOTICE = 3 };

#define K8S_FLAG_MORE 0x01  /* HELLO, START: the records go on in the next frame of this type */
#define K8S_FLAG_REPLY 0x02 /* HEARTBEAT: the answer */
#define K8S_FLAG_GROUP 0x04 /* SIGNAL: to the task's process group */
#define K8S_FLAG_EVERY 0x08 /* SIGNAL: to every process that ends with the step: all of the container but podinit's; of a joined one its tasks' */

/*
 * Records: the payloads of HELLO or START, joined, are a row of
 *    u8 tag, u8[3] zero, u32 task (or K8S_TASK_ALL), u32 length, bytes.
 * An unknown tag is skipped, so that either side may be newer. Text has no NUL.
 */
#define K8S_RECORD_HEADER 12
enum k8s_record {
	K8S_RECORD_ARGV = 'A',      /* one argument, in order */
	K8S_RECORD_ENV = 'E',       /* one NAME=value */
	K8S_RECORD_DIRECTORY = 'D', /* absolute path */
	K8S_RECORD_REQUIRED = 'R',  /* no bytes: the directory must exist, else the task ends with 1 */
	K8S_RECORD_HOME = 'H',      /* HOME where such a directory is there, else HOME stays the image's */
	K8S_RECORD_UMASK = 'U',     /* u32 */
	K8S_RECORD_LIMIT = 'L',     /* u32 RLIMIT_*, u64 soft, u64 hard; all ones: unlimited */
	K8S_RECORD_SCRIPT = 'S',    /* bytes of the job's script, joined in order; argv[0] becomes its path */
	K8S_RECORD_TTY = 'T',       /* u16 rows, u16 columns: the task has a terminal */
	K8S_RECORD_CPUS = 'B',      /* two bitmaps of one size, see below: the task is bound to cpus */
	K8S_RECORD_ONE_OUTPUT = 'O',  /* no bytes: stdout and stderr are one file, so their order counts; stderr is empty then */
	K8S_RECORD_PULL_SECRET = 'K', /* HELLO of local task 0: bytes of the user's Docker configuration, at most K8S_PULL_SECRET_MAX */
	K8S_RECORD_TASKS = 'N',     /* u32: number of tasks in this container, 1 to 4096 */
	K8S_RECORD_STATE = 'X',     /* u32: enum k8s_state */
	K8S_RECORD_VERSION = 'V',   /* text: podinit's version */
	K8S_RECORD_INPUT = 'I',     /* u64: bytes of the task's input that podinit has */
	K8S_RECORD_COMMAND = 'C',   /* text: a command of Slurm's that is offered; to the relay of commands with
				     * " queries" behind it where it may change nothing */
	K8S_RECORD_PATH = 'P',      /* text: a directory of the Slurm node with Slurm's commands, in order */
};

/* CPUS: a bitmap of 1 to K8S_CPUS_BYTES bytes of the task's cpus, and one as long of those it
 * could have had; cpu 0 is bit 0 of the first byte. In HELLO: what the task's process may run
 * on, and what the kernel would let it run on, both by the Slurm node's numbers. In START,
 * where Slurm has bound the task: places among the step's cpus on that node, and at most as
 * many first bits as the Pod asks for cpus. */
#define K8S_CPUS_BYTES 1024

/* A Docker configuration with the passwords of a few registries has a few hundred bytes. */
#define K8S_PULL_SECRET_MAX (64 * 1024)

enum k8s_state { K8S_STATE_WAITING = 0, K8S_STATE_STARTED = 1, K8S_STATE_ENDED = 2 };

/* Where podinit lives in the container, and how it is called:
 *   PODINIT_PATH init --session=HEX16 --orphan-timeout=SECONDS --start-timeout=SECONDS --linger=SECONDS
 *   PODINIT_PATH join --session=HEX16 --orphan-timeout=SECONDS --start-timeout=SECONDS --linger=SECONDS
 *   PODINIT_PATH pump --session=HEX16
 * join leaves a process in the container that lives as init does, for the tasks of another step
 * and its session, and ends with what descends from it; it has ended when that process listens.
 * RUN_DIRECTORY is an emptyDir in memory: podinit's socket, mode 0600, one more for each step that
 * joined (socket.HEX16), and the script. */
#define K8S_PODINIT_PATH "/.slurm-k8s/bin/podinit"
#define K8S_RUN_DIRECTORY "/.slurm-k8s/run"
#define K8S_PODINIT_SOCKET K8S_RUN_DIRECTORY "/socket"
#define K8S_SCRIPT_PATH K8S_RUN_DIRECTORY "/slurm_script"

#endif
