/* SPDX-License-Identifier: Apache-2.0 */
/* affinity.h - the cpus that Slurm has bound this process to. */
#ifndef RELAY_AFFINITY_H
#define RELAY_AFFINITY_H

#include <stddef.h>

#include "../include/frames.h"

/* Writes the value of a record of cpus, see frames.h, and returns its size; 0: the kernel
 * does not say. For a moment the process may run on all cpus that it can have; then it is
 * bound as before. */
size_t affinity_read(unsigned char value[2 * K8S_CPUS_BYTES]);

#endif
