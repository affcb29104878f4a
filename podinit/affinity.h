/* SPDX-License-Identifier: Apache-2.0 */
/* affinity.h - the cpus that a task is bound to. To be included with _GNU_SOURCE. */
#ifndef PODINIT_AFFINITY_H
#define PODINIT_AFFINITY_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "../include/frames.h"
#include "plan.h"

/* As many cpus as a record of cpus can name. */
union affinity {
	cpu_set_t set;
	unsigned long words[K8S_CPUS_BYTES / sizeof(unsigned long)];
};

/* Which of the container's cpus (`allowed`) stand for those of the record's value (frames.h:
 * START): the one at the same place, counted round where the container has fewer. False: the
 * task is not to be bound. That is so where the container may use more cpus than the Pod asks
 * for: they are shared with other Pods then, and the first task of each would sit on the same. */
bool affinity_choose(const unsigned char *value, uint32_t length, const union affinity *allowed, union affinity *chosen);

/* Binds this process as the plan says for task `number`. Where that fails a line on stderr
 * says so, and the task runs unbound. */
void affinity_apply(const struct plan *plan, uint32_t number);

#endif
