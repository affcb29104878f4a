// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
/* Prints how fast a task's output comes through podinit and its pump, next to a plain
 * pipe: a measure, not a test. Run: podinit_rate PODINIT MEBIBYTES */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../common/reader.h"
#include "../../common/records.h"

#define SESSION 0x0123456789abcdefull
#define SESSION_TEXT "--session=0123456789abcdef"

static unsigned char buffer[4 * K8S_READER_MIN];
static int to_pump, from_pump;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void send_frame(struct k8s_frame frame, const void *payload)
{
	unsigned char bytes[K8S_FRAME_HEADER + 4096];

	frame.session = SESSION;
	k8s_frame_encode(&frame, bytes);
	if (frame.length)
		memcpy(bytes + K8S_FRAME_HEADER, payload, frame.length);
	if (write(to_pump, bytes, K8S_FRAME_HEADER + frame.length) < 0)
		fail("write");
}

static pid_t spawn(char *const *command, int in, int out)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	dup2(in, 0);
	dup2(out, 1);
	execv(command[0], command);
	fail(command[0]);
	return 0;
}

static pid_t connect_pump(char *podinit, char *run)
{
	char *command[] = { podinit, "pump", SESSION_TEXT, run, NULL };
	int in[2], out[2];
	pid_t pid;

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		fail("pipe");
	pid = spawn(command, in[0], out[1]);
	close(in[0]);
	close(out[1]);
	to_pump = in[1];
	from_pump = out[0];
	return pid;
}

static void start(const char *const *words)
{
	struct k8s_buffer records = { .limit = 4096 };
	struct k8s_frame frame = { .type = K8S_FRAME_START, .task = K8S_TASK_ALL };

	k8s_record_append(&records, K8S_RECORD_TASKS, K8S_TASK_ALL, "\0\0\0\1", 4);
	for (; *words; words++)
		k8s_record_append(&records, K8S_RECORD_ARGV, 0, *words, (uint32_t)strlen(*words));
	frame.length = (uint32_t)records.size;
	send_frame(frame, records.bytes);
	k8s_buffer_clear(&records);
}

/* Returns the bytes of output. */
static unsigned long long drain(void)
{
	struct k8s_reader reader;
	struct k8s_frame frame;
	unsigned long long total = 0;
	int rc;

	k8s_reader_init(&reader, buffer, sizeof(buffer), SESSION);
	while (k8s_reader_fill(&reader, from_pump) > 0) {
		struct k8s_frame ack = { .type = 0 };

		while ((rc = k8s_reader_next(&reader, &frame)) > 0) {
			if (frame.type == K8S_FRAME_EXIT)
				return total;
			if (frame.type != K8S_FRAME_DATA)
				continue;
			total += frame.length;
			ack = (struct k8s_frame){ .type = K8S_FRAME_ACK,
						  .stream = frame.stream,
						  .offset = frame.offset + frame.length };
		}
		if (rc < 0)
			exit(1);
		if (ack.type)
			send_frame(ack, NULL);
	}
	return total;
}

static double through_podinit(char *podinit, const char *const *words)
{
	char directory[] = "/tmp/podinit-rate-XXXXXX", run[64], socket[64], report[] = "--report=/dev/null";
	char *command[] = { podinit, "init", SESSION_TEXT, run, report, NULL };
	unsigned long long total;
	struct stat status;
	pid_t init, pump;
	double begin;

	if (!mkdtemp(directory))
		fail("mkdtemp");
	snprintf(run, sizeof(run), "--run=%s", directory);
	snprintf(socket, sizeof(socket), "%s/socket", directory);
	init = spawn(command, 0, 1);
	while (stat(socket, &status))
		usleep(1000);
	pump = connect_pump(podinit, run);
	send_frame((struct k8s_frame){ .type = K8S_FRAME_HELLO, .task = K8S_TASK_ALL }, NULL);
	begin = now();
	start(words);
	total = drain();
	begin = (double)total / 1e6 / (now() - begin);
	send_frame((struct k8s_frame){ .type = K8S_FRAME_DETACH, .task = K8S_TASK_ALL }, NULL);
	waitpid(init, NULL, 0);
	waitpid(pump, NULL, 0);
	unlink(socket);
	rmdir(directory);
	return begin;
}

static double through_pipe(char *const *words)
{
	unsigned long long total = 0;
	double begin = now();
	int ends[2];
	ssize_t n;

	if (pipe2(ends, O_CLOEXEC))
		fail("pipe");
	spawn(words, 0, ends[1]);
	close(ends[1]);
	while ((n = read(ends[0], buffer, sizeof(buffer))) > 0)
		total += (unsigned long long)n;
	wait(NULL);
	return (double)total / 1e6 / (now() - begin);
}

int main(int argc, char **argv)
{
	char count[32];
	const char *words[] = { "/bin/dd", "if=/dev/zero", "bs=256K", "status=none", count, NULL };

	if (argc != 3)
		return 2;
	snprintf(count, sizeof(count), "count=%d", atoi(argv[2]) * 4);
	printf("plain pipe %.0f MB/s\n", through_pipe((char *const *)words));
	printf("podinit and pump %.0f MB/s\n", through_podinit(argv[1], words));
	return 0;
}
