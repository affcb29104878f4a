/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - what process 1 knows. There is one of it, and one thread. */
#ifndef PODINIT_STATE_H
#define PODINIT_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "../common/buffer.h"
#include "../include/frames.h"
#include "clock.h"
#include "options.h"
#include "task.h"

struct state {
	struct options options;
	enum k8s_state phase;
	struct task *tasks; /* from START on; never freed */
	uint32_t count;	    /* of tasks */
	uint32_t running;   /* tasks that have not ended */
	int64_t heard;	    /* when a frame last came from a core that had said hello */
	bool orphaned;	    /* no core for too long: the tasks were ended */
	bool terminated;    /* the kubelet wants us gone */
	bool detached;	    /* the core has all: go */
};

extern struct state state;

#endif
