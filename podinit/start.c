// SPDX-License-Identifier: Apache-2.0
#include "start.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "accounting.h"
#include "commands.h"
#include "ends.h"
#include "link.h"
#include "log.h"
#include "outbox.h"
#include "state.h"

/* One more than the records may have, for the byte that plan_read appends. */
static struct k8s_buffer pieces = { .limit = K8S_RECORDS_MAX + 1 };

void start_forget(void)
{
	k8s_buffer_clear(&pieces);
}

static int make_tasks(uint32_t count)
{
	state.tasks = calloc(count, sizeof(*state.tasks));
	if (!state.tasks)
		return -1;
	state.count = count;
	state.running = count;
	return 0;
}

static void run_tasks(const struct plan *plan)
{
	char script[512];
	int script_errno = 0;

	snprintf(script, sizeof(script), "%s/slurm_script", state.options.run);
	if (plan->script && plan_write_script(plan, script))
		script_errno = errno;
	commands_offer(plan);
	accounting_begin(state.options.cgroup, plan->tasks == 1 && state.options.mode == MODE_INIT);
	state.phase = K8S_STATE_STARTED;
	for (uint32_t i = 0; i < state.count; i++)
		task_start(&state.tasks[i], i, plan, script, script_errno);
	ends_after_start();
}

static int start(void)
{
	struct plan plan;
	const char *why;
	int rc;

	if (plan_read(&plan, &pieces, &why)) {
		say("podinit: start refused: %s", why);
		return -1;
	}
	rc = make_tasks(plan.tasks);
	if (rc)
		say("podinit: start refused: out of memory");
	else
		run_tasks(&plan);
	plan_clear(&plan);
	return rc;
}

static int take_piece(const struct k8s_frame *frame)
{
	if (pieces.size + frame->length <= K8S_RECORDS_MAX && !k8s_buffer_append(&pieces, frame->payload, frame->length))
		return 0;
	say("podinit: start refused: too long");
	return -1;
}

int start_take(const struct k8s_frame *frame)
{
	int rc;

	if (state.phase == K8S_STATE_WAITING) {
		if (take_piece(frame))
			return -1;
		if (frame->flags & K8S_FLAG_MORE)
			return 0;
		rc = start();
		start_forget();
		if (rc)
			return rc;
	}
	if (!(frame->flags & K8S_FLAG_MORE))
		link_answer_start();
	return 0;
}
