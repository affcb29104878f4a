// SPDX-License-Identifier: Apache-2.0
#include "epilog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bounded.h"
#include "core.h"
#include "host.h"
#include "marker.h"
#include "node.h"
#include "options.h"
#include "request.h"
#include "say.h"

#define REAP_SECONDS 20
#define REAP_BOUND 24

struct reaping {
	const struct core *core;
	struct fields fields;
	char text[4096];
};

static int reap(void *argument)
{
	struct reaping *reaping = argument;
	struct k8s_request request = request_of(&reaping->fields);

	return reaping->core->reap(host_table(), &request, REAP_SECONDS, reaping->text, sizeof(reaping->text));
}

/* The process of an epilog has no connection to Slurm yet. In 22.05 it makes one by itself. */
static void connect_slurm(void)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
	__typeof__(slurm_init) *init = SLURM_CALL(slurm_init);

	if (init)
		init(NULL);
#endif
}

static void clean(uint32_t job, struct reaping *reaping)
{
	int left = 1, error = bounded_call(reap, reaping, REAP_BOUND, &left);

	if (error == ETIMEDOUT) {
		say_info("job %u: left to the collector: the core has not ended in %d s", job, REAP_BOUND);
		return; /* it still writes there */
	}
	if (error || left)
		say_info("job %u: left to the collector: %s", job, error ? strerror(error) : reaping->text);
	fields_free(&reaping->fields);
	free(reaping);
}

static void add_step(const char *place, void *fields)
{
	fields_add(fields, "step", place);
}

/* What may be left: slurmstepd sets a marker before it starts the core, and removes it when nothing
 * is left, so that a clean end costs the epilog no Go. The option decides only where no
 * marker could be set. */
static void add_remains(struct fields *fields, spank_t spank, const struct config *config, uint32_t job)
{
	if (marker_is_set(config->state, node_name(), job, "") ||
	    (!marker_can_tell(config->state) && options_of_job(spank, OPTION_IMAGE)))
		fields_add(fields, "batch", "1");
	marker_each(config->state, node_name(), job, add_step, fields);
}

/* Takes over `remains`. Returns the request, or NULL: the core cannot be had. */
static struct reaping *prepare(spank_t spank, const struct config *config, uint32_t job, struct fields *remains)
{
	struct reaping *reaping = calloc(1, sizeof(*reaping));
	uid_t uid = 0;

	if (reaping)
		reaping->core = core_load(config->libexec, reaping->text, sizeof(reaping->text));
	if (!reaping || !reaping->core) {
		say_info("job %u: left to the collector: %s", job, reaping ? reaping->text : "out of memory");
		fields_free(remains);
		free(reaping);
		return NULL;
	}
	connect_slurm();
	host_set_place(node_name(), 0);
	reaping->fields = *remains;
	request_common(&reaping->fields, config);
	fields_format(&reaping->fields, "job_id", "%u", job);
	if (spank_get_item(spank, S_JOB_UID, &uid) == ESPANK_SUCCESS)
		fields_format(&reaping->fields, "uid", "%u", (unsigned)uid);
	fields_add(&reaping->fields, "cluster", node_cluster());
	fields_add(&reaping->fields, "node", node_name());
	return reaping;
}

void epilog_run(spank_t spank, const struct config *config)
{
	struct fields remains = { 0 };
	struct reaping *reaping;
	uint32_t job = 0;

	if (spank_get_item(spank, S_JOB_ID, &job) != ESPANK_SUCCESS || !job)
		return;
	add_remains(&remains, spank, config, job);
	if (!remains.count)
		return;
	reaping = prepare(spank, config, job, &remains);
	if (reaping)
		clean(job, reaping);
	/* No epilog comes again for this run: what is left is the collector's, which needs no hint. */
	marker_remove_all(config->state, node_name(), job);
}
