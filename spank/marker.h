/* SPDX-License-Identifier: Apache-2.0 */
/* marker.h - an empty file that root alone can make and see, one per node and job: something of
 * this job may be left. A hint for the epilog, nothing else. */
#ifndef K8S_MARKER_H
#define K8S_MARKER_H

#include <stdbool.h>
#include <stdint.h>

/* Makes it, and the folder `state` with mode 0700 where there is none. Returns 0, or errno. */
int marker_set(const char *state, const char *node, uint32_t job);

bool marker_is_set(const char *state, const char *node, uint32_t job);

/* Whether a marker that is not there means that nothing is left: the folder is ours. */
bool marker_can_tell(const char *state);

/* Removes it, where it is. */
void marker_remove(const char *state, const char *node, uint32_t job);

#endif
