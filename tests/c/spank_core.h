/* SPDX-License-Identifier: Apache-2.0 */
/* spank_core.h - the fake core: what it is to answer, and what it was asked. The test finds the
 * struct by dlsym of "fake_core" in the library that the shim loaded. */
#ifndef SPANK_CORE_H
#define SPANK_CORE_H

#include <stddef.h>

#include "../../include/gocore.h"

struct fake_core {
	int validate_rc, start_rc, finish_rc, reap_rc;
	const char *text; /* written to the caller's buffer */
	int calls[4];	  /* validate, start, finish, reap */
	char fields[16384];
	int relays[8];
	size_t relay_count;
	int finished;
	unsigned seconds;
	const struct k8s_host *host;
};

#endif
