/* SPDX-License-Identifier: Apache-2.0 */
/* marker.h - an empty file that root alone can make and see, one per node, job and step: something
 * of this step may be left. A hint for the epilog, nothing else. `place` is "" for the batch
 * script, else the step's number and the node's in it: "0.1", and a component's: "0.1.2". */
#ifndef K8S_MARKER_H
#define K8S_MARKER_H

#include <stdbool.h>
#include <stdint.h>

/* Makes it, and the folder `state` with mode 0700 where there is none. Returns 0, or errno. */
int marker_set(const char *state, const char *node, uint32_t job, const char *place);

bool marker_is_set(const char *state, const char *node, uint32_t job, const char *place);

/* Calls `call` with the place of each numbered step of the job that has a marker on the node. */
void marker_each(const char *state, const char *node, uint32_t job, void (*call)(const char *place, void *argument),
		 void *argument);

/* Whether a marker that is not there means that nothing is left: the folder is ours. */
bool marker_can_tell(const char *state);

/* Removes it, where it is. */
void marker_remove(const char *state, const char *node, uint32_t job, const char *place);

/* Removes all of the job on the node. */
void marker_remove_all(const char *state, const char *node, uint32_t job);

#endif
