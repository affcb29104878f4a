// SPDX-License-Identifier: Apache-2.0
#include "ends.h"

#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>

#include "accounting.h"
#include "link.h"
#include "log.h"
#include "outbox.h"
#include "processes.h"
#include "report.h"
#include "state.h"

/* How long a stream of an ended task is read while something else holds it open: */
#define GRACE_OTHERS_RUN_MS 1000 /* a process the task left behind */
#define GRACE_ALL_KILLED_MS 5000 /* a killed process that the kernel cannot end yet */

/* From TERM to KILL for tasks without a core. */
#define ORPHAN_KILL_MS 10000

#define EXIT_NEVER_STARTED 75
#define EXIT_TERMINATED 143

static int64_t kill_at = CLOCK_NEVER;
static int64_t ended_at = CLOCK_NEVER;

static void bound_outputs(struct task *task, int64_t deadline)
{
	output_bound(&task->outputs[0], deadline);
	output_bound(&task->outputs[1], deadline);
}

/* As slurmstepd does: what the tasks left behind goes with the step. */
static void end_step(int64_t now)
{
	state.phase = K8S_STATE_ENDED;
	ended_at = now;
	report_write();
	processes_signal(SIGKILL);
	for (uint32_t i = 0; i < state.count; i++)
		bound_outputs(&state.tasks[i], now + GRACE_ALL_KILLED_MS);
}

static void count_end(struct task *task)
{
	int64_t now = clock_now();

	outbox_add(task);
	state.running--;
	if (state.running)
		bound_outputs(task, now + GRACE_OTHERS_RUN_MS);
	else
		end_step(now);
}

static struct task *task_of(pid_t pid)
{
	for (uint32_t i = 0; i < state.count; i++)
		if (state.tasks[i].pid == pid)
			return &state.tasks[i];
	return NULL;
}

static void task_ended(struct task *task, int status, const struct rusage *usage)
{
	task->pid = 0;
	task->ended = true;
	task->status = status;
	task->usage = *usage;
	task->peak = accounting_peak(usage);
	task->oom_kills = accounting_oom_kills();
	count_end(task);
}

void ends_reap(void)
{
	struct rusage usage;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
		struct task *task = task_of(pid);

		if (task)
			task_ended(task, status, &usage);
	}
}

/* A stopped task could not take it. */
static void signal_tasks(int signal)
{
	processes_signal(SIGCONT);
	for (uint32_t i = 0; i < state.count; i++)
		task_signal(&state.tasks[i], signal, false);
}

void ends_terminate(void)
{
	state.terminated = true;
	if (state.phase == K8S_STATE_STARTED) {
		say("podinit: told to end: passing it on to the tasks");
		signal_tasks(SIGTERM);
	}
}

void ends_after_start(void)
{
	state.heard = clock_now();
	for (uint32_t i = 0; i < state.count; i++)
		if (state.tasks[i].ended)
			count_end(&state.tasks[i]);
	/* START and that word may come at once, in either order. */
	if (state.terminated)
		ends_terminate();
}

/* The fence: see docs/architecture.md, At most once. */
static int64_t check_orphaned(int64_t now)
{
	int64_t deadline = state.heard + state.options.orphan_timeout_ms;

	if (state.phase != K8S_STATE_STARTED)
		return CLOCK_NEVER;
	if (now >= kill_at) {
		kill_at = CLOCK_NEVER;
		processes_signal(SIGKILL);
	}
	if (state.orphaned)
		return kill_at;
	if (now < deadline)
		return deadline;
	say("podinit: no word from the core for %lld s: ending the tasks",
	    (long long)(state.options.orphan_timeout_ms / 1000));
	state.orphaned = true;
	signal_tasks(SIGTERM);
	kill_at = now + ORPHAN_KILL_MS;
	return kill_at;
}

static int64_t check_outputs(int64_t now)
{
	int64_t next = CLOCK_NEVER;

	if (state.running == state.count)
		return next;
	for (uint32_t i = 0; i < state.count; i++)
		for (int which = 0; which < 2; which++)
			next = clock_earlier(next, output_check(&state.tasks[i].outputs[which], now));
	return next;
}

/* Something that stands nowhere else. How the tasks ended is in process 1's report, too. */
static bool something_left(void)
{
	if (state.options.mode == MODE_JOIN)
		return true;
	for (uint32_t i = 0; i < state.count; i++)
		for (int which = 0; which < 2; which++)
			if (state.tasks[i].outputs[which].acknowledged < state.tasks[i].outputs[which].head)
				return true;
	return false;
}

/* A Pod keeps its room meanwhile. Behind the fence the long wait is over already. */
static int64_t linger(void)
{
	int64_t longest = state.options.linger_ms, shortly = state.options.empty_linger_ms;

	return longest > shortly && (state.orphaned || !something_left()) ? shortly : longest;
}

static int64_t linger_until(void)
{
	/* A core that still speaks will say DETACH when it has all. */
	int64_t since = state.heard > ended_at ? state.heard : ended_at;

	return since + linger();
}

int64_t ends_check(int64_t now)
{
	int64_t next = clock_earlier(check_orphaned(now), check_outputs(now));

	if (state.phase == K8S_STATE_WAITING)
		next = clock_earlier(next, state.heard + state.options.start_timeout_ms);
	if (state.phase == K8S_STATE_ENDED)
		next = clock_earlier(next, linger_until());
	return next;
}

static int code_of(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool ends_over(int64_t now, int *code)
{
	switch (state.phase) {
	case K8S_STATE_WAITING:
		*code = state.terminated ? EXIT_TERMINATED : EXIT_NEVER_STARTED;
		if (state.terminated)
			return true;
		if (now < state.heard + state.options.start_timeout_ms)
			return false;
		say("podinit: never started");
		report_never_started();
		return true;
	case K8S_STATE_ENDED:
		*code = code_of(state.tasks[0].status);
		return state.detached || now >= linger_until();
	default:
		return false;
	}
}
