// SPDX-License-Identifier: Apache-2.0
/* The second half of step.h: with the core, once all tasks are forked. */
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bounded.h"
#include "core.h"
#include "host.h"
#include "marker.h"
#include "node.h"
#include "options.h"
#include "request.h"
#include "say.h"
#include "step.h"

#define TEXT 4096

/* Far below UnkillableStepTimeout (60 s), at which Slurm drains the node. What the core does not
 * manage in its time is waited for a little longer, then left to the epilog. */
#define FINISH_SECONDS 20
#define FINISH_BOUND 24

static void close_side(struct step *step, int side)
{
	for (uint32_t i = 0; i < step->tasks; i++) {
		if (step->pairs[i][side] >= 0)
			close(step->pairs[i][side]);
		step->pairs[i][side] = -1;
	}
	if (step->is_ours && step->commands[side] >= 0) {
		close(step->commands[side]);
		step->commands[side] = -1;
	}
}

/* The children are forked and have no other ear: task.c reads this before it becomes the relay. */
static void tell_tasks(struct step *step, const char *text)
{
	for (uint32_t i = 0; i < step->tasks; i++)
		if (step->pairs[i][0] >= 0 && send(step->pairs[i][0], text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
			say_info("job %s: %s", step->name, text);
	close_side(step, 0);
}

static void add_groups(struct fields *fields, spank_t spank)
{
	gid_t *groups = NULL;
	char *list = NULL;
	int count = 0;

	if (spank_get_item(spank, S_JOB_SUPPLEMENTARY_GIDS, &groups, &count) != ESPANK_SUCCESS)
		return;
	for (int i = 0; i < count; i++) {
		char *longer = say_text("%s%s%u", list ? list : "", list ? "," : "", (unsigned)groups[i]);

		free(list);
		list = longer;
		if (!list) {
			fields->failed = true;
			return;
		}
	}
	fields_add(fields, "groups", list ? list : "");
	free(list);
}

static void add_user(struct fields *fields, spank_t spank)
{
	struct passwd entry, *found = NULL;
	char buffer[16384];
	uid_t uid = 0;
	gid_t gid = 0;

	/* Without them nothing may start: 0 would be root. */
	if (spank_get_item(spank, S_JOB_UID, &uid) != ESPANK_SUCCESS ||
	    spank_get_item(spank, S_JOB_GID, &gid) != ESPANK_SUCCESS) {
		fields->failed = true;
		return;
	}
	fields_format(fields, "uid", "%u", (unsigned)uid);
	fields_format(fields, "gid", "%u", (unsigned)gid);
	if (getpwuid_r(uid, &entry, buffer, sizeof(buffer), &found) || !found)
		return;
	fields_add(fields, "user", found->pw_name);
	fields_add(fields, "home", found->pw_dir);
}

/* Returns the memory of the step on this node, in MB. */
static uint64_t add_share(struct fields *fields, spank_t spank)
{
	uint64_t memory = 0;
	uint16_t cpus = 0;

	if (spank_get_item(spank, S_JOB_NCPUS, &cpus) == ESPANK_SUCCESS && cpus)
		fields_format(fields, "cpus", "%u", cpus);
	if (spank_get_item(spank, S_STEP_ALLOC_MEM, &memory) != ESPANK_SUCCESS || !memory)
		if (spank_get_item(spank, S_JOB_ALLOC_MEM, &memory) != ESPANK_SUCCESS)
			memory = 0;
	if (memory)
		fields_format(fields, "memory_mb", "%llu", (unsigned long long)memory);
	return memory;
}

static void add_step(struct fields *fields, spank_t spank, const struct step *step)
{
	uint32_t nodes = 0;
	char **argv = NULL;
	int argc = 0;

	fields_format(fields, "job_id", "%u", step->job);
	if (step->is_batch)
		fields_add(fields, "step_id", "batch");
	else
		fields_format(fields, "step_id", "%u", step->id);
	/* 0 of a batch script in 22.05, which runs on one node whatever the job has. */
	if (spank_get_item(spank, S_JOB_NNODES, &nodes) != ESPANK_SUCCESS || !nodes || step->is_batch)
		nodes = 1;
	fields_format(fields, "nnodes", "%u", nodes);
	fields_format(fields, "node_id", "%u", step->node);
	fields_format(fields, "tasks", "%u", step->tasks);
	if (step->is_bound)
		fields_add(fields, "cpu_bind", "1");
	if (step->component.is_one)
		fields_format(fields, "component", "%d", step->component.number);
	fields_add(fields, "cluster", node_cluster());
	fields_add(fields, "node", node_name());
	if (step->is_legacy)
		fields_add(fields, "legacy", "1");
	if (!step->has_command)
		fields_add(fields, "legacy_script", step->legacy_script);
	if (step->is_batch && spank_get_item(spank, S_JOB_ARGV, &argc, &argv) == ESPANK_SUCCESS && argc > 0)
		fields_add(fields, "batch_argv0", argv[0]);
}

/* Returns the handle, or 0 with a reason in `text`. */
static int call_core(spank_t spank, const struct config *config, struct step *step, char *text, size_t capacity)
{
	const struct core *core = core_load(config->libexec, text, capacity);
	struct fields fields = { 0 };
	struct k8s_request request;
	int *relays, handle = 0;

	if (!core)
		return 0;
	relays = calloc(step->tasks + 1, sizeof(*relays));
	if (step->commands[0] >= 0)
		fields_add(&fields, "commands", "1");
	request_common(&fields, config);
	fields_add(&fields, "state", config->state);
	add_user(&fields, spank);
	add_groups(&fields, spank);
	add_step(&fields, spank, step);
	host_set_place(node_name(), add_share(&fields, spank));
	host_set_step(&(struct host_step){ .job = step->job, .id = step->id, .overlap = step->is_overlap,
					   .component = step->component.is_one ? step->component.group : -1 });
	if (relays && !fields.failed) {
		for (uint32_t i = 0; i < step->tasks; i++)
			relays[i] = step->pairs[i][0];
		relays[step->tasks] = step->commands[0];
		request = request_of(&fields);
		handle = core->start(host_table(), &request, relays, step->tasks + (step->commands[0] >= 0), text, capacity);
	} else {
		strncpy(text, "cannot gather what Slurm knows of the job", capacity - 1);
	}
	fields_free(&fields);
	free(relays);
	return handle > 0 ? handle : 0;
}

void step_start(spank_t spank, const struct config *config)
{
	struct step *step = step_here();
	char text[TEXT] = "";
	int task = -1, error;

	if (!step->is_ours || spank_get_item(spank, S_TASK_ID, &task) != ESPANK_SUCCESS || task)
		return;
	close_side(step, 1);
	if (step->fault) {
		close_side(step, 0);
		return;
	}
	/* SlurmdParameters=contain_spank calls from a clone that ends at once, and Go with it. */
	if (getpid() != step->pid) {
		tell_tasks(step, "SlurmdParameters=contain_spank is not supported");
		return;
	}
	error = marker_set(config->state, node_name(), step->job, step->place);
	if (error)
		say_info("job %s: no marker for the epilog in %s: %s", step->name, config->state, strerror(error));
	step->handle = call_core(spank, config, step, text, sizeof(text));
	if (!step->handle) {
		tell_tasks(step, *text ? text : "the core did not start, and does not say why");
		marker_remove(config->state, node_name(), step->job, step->place);
		return;
	}
	/* The core's from here on. */
	for (uint32_t i = 0; i < step->tasks; i++)
		step->pairs[i][0] = -1;
	step->commands[0] = -1;
}

struct ending {
	const struct core *core;
	int handle;
	char text[TEXT];
};

static int end_it(void *argument)
{
	struct ending *ending = argument;

	return ending->core->finish(ending->handle, FINISH_SECONDS, ending->text, sizeof(ending->text));
}

void step_finish(const struct config *config)
{
	struct step *step = step_here();
	struct ending *ending;
	int left = 1, error;

	/* Not in a child: its copy of the core has no threads. */
	if (getpid() != step->pid)
		return;
	close_side(step, 0);
	close_side(step, 1);
	if (!step->handle)
		return;
	ending = calloc(1, sizeof(*ending));
	if (!ending)
		return;
	ending->core = core_load(config->libexec, ending->text, sizeof(ending->text));
	ending->handle = step->handle;
	step->handle = 0;
	error = bounded_call(end_it, ending, FINISH_BOUND, &left);
	if (error == ETIMEDOUT) {
		say_info("job %s: the core has not ended in %d s: left to the epilog", step->name, FINISH_BOUND);
		return; /* it still writes there */
	}
	if (error)
		say_info("job %s: left to the epilog: %s", step->name, strerror(error));
	else if (left)
		say_info("job %s: left to the epilog: %s", step->name, ending->text);
	else
		marker_remove(config->state, node_name(), step->job, step->place);
	free(ending);
}
