/* SPDX-License-Identifier: Apache-2.0 */
/* core.h - the core, loaded late, and only where a job asked for a Pod. */
#ifndef K8S_CORE_H
#define K8S_CORE_H

#include <stddef.h>

#include "../include/gocore.h"

/* The calls of include/gocore.h, as the library has them. */
struct core {
	__typeof__(k8s_core_abi) *abi;
	__typeof__(k8s_core_validate) *validate;
	__typeof__(k8s_core_start) *start;
	__typeof__(k8s_core_finish) *finish;
	__typeof__(k8s_core_reap) *reap;
};

/* Loads gocore.so from the folder `libexec`, once in a process. It stays: Go cannot be
 * unloaded. Returns NULL when it cannot be had, and `text` says why. Never in slurmd,
 * and never in a process that will fork without exec. */
const struct core *core_load(const char *libexec, char *text, size_t capacity);

/* Forgets the table, for tests. */
void core_forget(void);

#endif
