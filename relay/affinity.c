// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "affinity.h"

#include <sched.h>
#include <string.h>

union mask {
	cpu_set_t set;
	unsigned long words[K8S_CPUS_BYTES / sizeof(unsigned long)];
};

#define CPUS (8 * K8S_CPUS_BYTES)

/* Returns how many bytes it took to write the set. */
static size_t write_bitmap(unsigned char *bitmap, const union mask *mask)
{
	size_t size = 0;

	for (size_t cpu = 0; cpu < CPUS; cpu++) {
		if (!CPU_ISSET_S(cpu, sizeof(*mask), &mask->set))
			continue;
		bitmap[cpu / 8] |= (unsigned char)(1 << cpu % 8);
		size = cpu / 8 + 1;
	}
	return size;
}

/* What Slurm confines the step to by a cgroup is not written where a user can read it in all
 * releases, but the kernel cuts every wish to it. */
static int read_widest(union mask *widest, const union mask *own)
{
	union mask all;
	int rc;

	memset(&all, 0xff, sizeof(all));
	if (sched_setaffinity(0, sizeof(all), &all.set))
		return -1;
	rc = sched_getaffinity(0, sizeof(*widest), &widest->set);
	if (sched_setaffinity(0, sizeof(*own), &own->set))
		return -1;
	return rc;
}

size_t affinity_read(unsigned char value[2 * K8S_CPUS_BYTES])
{
	union mask own = { 0 }, widest = { 0 };
	unsigned char step[K8S_CPUS_BYTES] = { 0 };
	size_t task_size, size;

	if (sched_getaffinity(0, sizeof(own), &own.set) || read_widest(&widest, &own))
		return 0;
	memset(value, 0, 2 * K8S_CPUS_BYTES);
	task_size = write_bitmap(value, &own);
	size = write_bitmap(step, &widest);
	if (size < task_size)
		size = task_size;
	memcpy(value + size, step, size);
	return 2 * size;
}
