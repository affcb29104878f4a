// SPDX-License-Identifier: Apache-2.0
#include "plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../common/bytes.h"

#define TASKS_MAX 4096

static int count_entries(const struct k8s_buffer *start, size_t *count, const char **why)
{
	struct k8s_entry entry;
	size_t at = 0;
	int rc;

	*count = 0;
	while ((rc = k8s_records_next(start->bytes, start->size, &at, &entry)) > 0)
		++*count;
	if (rc < 0)
		*why = k8s_fault_name(rc);
	return rc;
}

/* Afterwards no header is needed any more, and the byte behind each value is free. */
static void split(struct plan *plan, struct k8s_buffer *start, size_t size)
{
	size_t at = 0;

	for (size_t i = 0; i < plan->count; i++)
		k8s_records_next(start->bytes, size, &at, &plan->entries[i]);
	for (size_t i = 0; i < plan->count; i++)
		start->bytes[plan->entries[i].value - start->bytes + plan->entries[i].length] = 0;
}

static const char *check(struct plan *plan)
{
	const struct k8s_entry *tasks = plan_last(plan, K8S_TASK_ALL, K8S_RECORD_TASKS);

	if (!tasks)
		return "number of tasks is missing";
	plan->tasks = k8s_get_u32(tasks->value);
	if (plan->tasks < 1 || plan->tasks > TASKS_MAX)
		return "number of tasks is out of range";
	for (size_t i = 0; i < plan->count; i++) {
		if (plan->entries[i].task != K8S_TASK_ALL && plan->entries[i].task >= plan->tasks)
			return "record of a task that there is not";
		if (plan->entries[i].tag == K8S_RECORD_SCRIPT)
			plan->script = true;
	}
	return NULL;
}

int plan_read(struct plan *plan, struct k8s_buffer *start, const char **why)
{
	size_t size = start->size;

	*plan = (struct plan){ 0 };
	if (count_entries(start, &plan->count, why))
		return -1;
	*why = "out of memory";
	plan->entries = calloc(plan->count + 1, sizeof(*plan->entries));
	if (!plan->entries || k8s_buffer_append(start, "", 1)) {
		plan_clear(plan);
		return -1;
	}
	split(plan, start, size);
	*why = check(plan);
	if (*why)
		plan_clear(plan);
	return *why ? -1 : 0;
}

void plan_clear(struct plan *plan)
{
	free(plan->entries);
	*plan = (struct plan){ 0 };
}

const struct k8s_entry *plan_next(const struct plan *plan, uint32_t task, unsigned char tag, size_t *at)
{
	while (*at < plan->count) {
		const struct k8s_entry *entry = &plan->entries[(*at)++];

		if (entry->tag == tag && (entry->task == task || entry->task == K8S_TASK_ALL))
			return entry;
	}
	return NULL;
}

const struct k8s_entry *plan_last(const struct plan *plan, uint32_t task, unsigned char tag)
{
	const struct k8s_entry *entry, *last = NULL;
	size_t at = 0;

	while ((entry = plan_next(plan, task, tag, &at)))
		last = entry;
	return last;
}

static int write_all(int fd, const unsigned char *bytes, size_t count)
{
	while (count) {
		ssize_t n = write(fd, bytes, count);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		bytes += n;
		count -= (size_t)n;
	}
	return 0;
}

static int write_scripts(const struct plan *plan, int fd)
{
	for (size_t i = 0; i < plan->count; i++) {
		const struct k8s_entry *entry = &plan->entries[i];

		if (entry->tag == K8S_RECORD_SCRIPT && write_all(fd, entry->value, entry->length))
			return -1;
	}
	return 0;
}

int plan_write_script(const struct plan *plan, const char *path)
{
	int fd, rc, saved;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0700);
	if (fd < 0)
		return -1;
	/* Whatever the umask is. */
	rc = fchmod(fd, 0700);
	if (!rc)
		rc = write_scripts(plan, fd);
	saved = errno;
	close(fd);
	errno = saved;
	return rc;
}
