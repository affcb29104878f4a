/* SPDX-License-Identifier: Apache-2.0 */
/* accounting.h - what the container's own cgroup says, where it can be read. */
#ifndef PODINIT_ACCOUNTING_H
#define PODINIT_ACCOUNTING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

/* `directory` is where the cgroups are mounted (borrowed for good). `alone`: one task has
 * the container to itself. Counts OOM kills from now on. */
void accounting_begin(const char *directory, bool alone);

/* Processes the kernel killed for want of memory in this container since begin; 0 when unknown. */
uint32_t accounting_oom_kills(void);

/* Peak memory in bytes: the cgroup's for a task alone in a container, else the largest
 * process of the task. */
uint64_t accounting_peak(const struct rusage *usage);

#endif
