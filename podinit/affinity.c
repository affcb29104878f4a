// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "affinity.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CPUS (8 * K8S_CPUS_BYTES)

static bool has_bit(const unsigned char *bitmap, uint32_t bit)
{
	return bitmap[bit / 8] >> bit % 8 & 1;
}

/* The numbers of the set's cpus, in order; returns how many there are. */
static uint32_t list_cpus(uint16_t numbers[CPUS], const union affinity *cpus)
{
	uint32_t count = 0;

	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		if (CPU_ISSET_S(cpu, sizeof(*cpus), &cpus->set))
			numbers[count++] = (uint16_t)cpu;
	return count;
}

bool affinity_choose(const unsigned char *value, uint32_t length, const union affinity *allowed, union affinity *chosen)
{
	uint16_t numbers[CPUS];
	uint32_t bits = length / 2 * 8, step = 0, bound = 0;
	uint32_t own = list_cpus(numbers, allowed);

	memset(chosen, 0, sizeof(*chosen));
	if (length % 2 || length > 2 * K8S_CPUS_BYTES || !own)
		return false;
	for (uint32_t place = 0; place < bits; place++) {
		step += has_bit(value + length / 2, place);
		if (!has_bit(value, place))
			continue;
		CPU_SET_S(numbers[place % own], sizeof(*chosen), &chosen->set);
		bound++;
	}
	return bound && own <= step;
}

void affinity_apply(const struct plan *plan, uint32_t number)
{
	const struct k8s_entry *entry = plan_last(plan, number, K8S_RECORD_CPUS);
	union affinity allowed = { 0 }, chosen;

	if (!entry)
		return;
	if (!sched_getaffinity(0, sizeof(allowed), &allowed.set)) {
		if (!affinity_choose(entry->value, entry->length, &allowed, &chosen))
			return;
		if (!sched_setaffinity(0, sizeof(chosen), &chosen.set))
			return;
	}
	dprintf(STDERR_FILENO, "slurm-k8s: the task is not bound to its cpus: %s\n", strerror(errno));
}
