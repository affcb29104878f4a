/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - what START says, ready to be asked per task. */
#ifndef PODINIT_PLAN_H
#define PODINIT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../common/buffer.h"
#include "../common/records.h"

/* Its entries point into the START buffer, which must outlive it. Every value is
 * followed by a NUL byte, so text records are C strings. */
struct plan {
	struct k8s_entry *entries;
	size_t count;
	uint32_t tasks;
	bool script; /* there are script records */
};

/* Splits the joined records in `start` (which is written to: one byte is appended, and
 * values get their NULs). Returns 0, or -1 with *why a static word, and then `plan`
 * holds nothing. */
int plan_read(struct plan *plan, struct k8s_buffer *start, const char **why);

/* Frees the entries. */
void plan_clear(struct plan *plan);

/* The next entry from *at on with this tag that applies to `task`; NULL when there is
 * none. Begin with *at = 0. */
const struct k8s_entry *plan_next(const struct plan *plan, uint32_t task, unsigned char tag, size_t *at);

/* The last one, which is the one that counts where there can be only one; or NULL. */
const struct k8s_entry *plan_last(const struct plan *plan, uint32_t task, unsigned char tag);

/* Writes the script to `path`, mode 0700. Returns 0, or -1 with errno. */
int plan_write_script(const struct plan *plan, const char *path);

#endif
