// SPDX-License-Identifier: Apache-2.0
#include "commands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "callers.h"
#include "log.h"
#include "outbox.h"
#include "state.h"

#define RING (256 * 1024)

/* What one read of a caller may put on the stream: what it brings, what was begun before, and a
 * header of our own. */
#define ROOM (CALLER_READ + sizeof(struct k8s_messages) + K8S_MESSAGE_HEADER)

static struct task pseudo = { .number = K8S_TASK_COMMANDS, .terminal = -1, .channel = true };
static struct k8s_messages incoming;
static char bin[100];
static bool offered;
static bool lent; /* by process 1, whose socket it is: we have joined its container */
static bool over; /* nobody on the Slurm node listens any more */

/* A name of a command, and nothing that leads elsewhere. */
static bool is_name(const char *name)
{
	return *name && strlen(name) < 32 && strspn(name, "abcdefghijklmnopqrstuvwxyz_-") == strlen(name);
}

static int make_link(const char *program, const char *name)
{
	char path[sizeof(bin) + 40];

	if (!is_name(name)) {
		errno = EINVAL;
		return -1;
	}
	snprintf(path, sizeof(path), "%s/%s", bin, name);
	unlink(path);
	return symlink(program, path);
}

static int make_links(const struct plan *plan)
{
	char program[512];
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	const struct k8s_entry *entry;
	size_t at = 0;

	if (length < 0 || (mkdir(bin, 0755) && errno != EEXIST))
		return -1;
	program[length] = 0;
	while ((entry = plan_next(plan, K8S_TASK_ALL, K8S_RECORD_COMMAND, &at)))
		if (make_link(program, (const char *)entry->value))
			return -1;
	return 0;
}

void commands_offer(const struct plan *plan)
{
	if (!plan_last(plan, K8S_TASK_ALL, K8S_RECORD_COMMAND))
		return;
	snprintf(bin, sizeof(bin), "%s/" K8S_COMMANDS_BIN, state.options.run);
	if (state.options.mode == MODE_JOIN) {
		lent = !access(bin, X_OK);
		return;
	}
	if (make_links(plan) || output_open(&pseudo.outputs[0], &pseudo, -1, RING) || callers_listen(state.options.run)) {
		say("podinit: Slurm's commands are not offered: %s", strerror(errno));
		return;
	}
	input_open(&pseudo.input, &pseudo, -1, false);
	pseudo.outputs[1].watch.fd = -1;
	offered = true;
}

struct task *commands_task(void)
{
	return offered ? &pseudo : NULL;
}

const char *commands_bin(void)
{
	return offered || lent ? bin : NULL;
}

bool commands_have_room(void)
{
	return output_room(&pseudo.outputs[0]) >= ROOM;
}

bool commands_send(const struct k8s_message *message)
{
	unsigned char header[K8S_MESSAGE_HEADER];

	if (output_room(&pseudo.outputs[0]) < sizeof(header) + message->length)
		return false;
	k8s_message_encode(message, header);
	output_append(&pseudo.outputs[0], header, sizeof(header));
	output_append(&pseudo.outputs[0], message->payload, message->length);
	return true;
}

void commands_resume(void)
{
	if (commands_have_room())
		callers_resume();
}

static void end(const char *why)
{
	over = true;
	callers_end(why);
}

static void take(const unsigned char *bytes, size_t count)
{
	struct k8s_message message;
	int rc = 0;

	while (!over && (rc = k8s_messages_next(&incoming, &bytes, &count, &message)) > 0)
		callers_take(&message);
	if (rc < 0) {
		say("podinit: the Slurm node sent a malformed message");
		end("the Slurm node sent what makes no sense");
	}
}

/* Taken at once, all of it: a caller that is slow has a buffer of its own. */
int commands_take(uint64_t offset, const unsigned char *bytes, size_t count)
{
	uint64_t before = pseudo.input.have;
	int rc = input_take(&pseudo.input, offset, bytes, count);
	size_t fresh = (size_t)(pseudo.input.have - before);

	if (!rc && fresh)
		take(bytes + count - fresh, fresh);
	return rc;
}

int commands_end(uint64_t offset)
{
	int rc = input_end(&pseudo.input, offset);

	if (!rc)
		end("the Slurm node does not run Slurm's commands for this Pod any more");
	return rc;
}
