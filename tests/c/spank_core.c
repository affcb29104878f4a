// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
/* A core that does nothing. -DFAKE_ABI gives another version, -DFAKE_HOLE leaves a call out. */
#include "spank_core.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#ifndef FAKE_ABI
#define FAKE_ABI K8S_CORE_ABI
#endif

struct fake_core fake_core;

static void keep(const struct k8s_host *host, const struct k8s_request *request, char *text, size_t capacity)
{
	fake_core.host = host;
	fake_core.fields[0] = '\0';
	for (const char *const *field = request->fields; *field; field++) {
		size_t at = strlen(fake_core.fields);

		snprintf(fake_core.fields + at, sizeof(fake_core.fields) - at, "%s\n", *field);
	}
	snprintf(text, capacity, "%s", fake_core.text ? fake_core.text : "");
}

int k8s_core_abi(void)
{
	struct rlimit files;

	/* As Go does to its whole process. */
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max - 1;
	setrlimit(RLIMIT_NOFILE, &files);
	return FAKE_ABI;
}

int k8s_core_validate(const struct k8s_host *host, const struct k8s_request *request, char *text, size_t capacity)
{
	fake_core.calls[0]++;
	keep(host, request, text, capacity);
	return fake_core.validate_rc;
}

int k8s_core_start(const struct k8s_host *host, const struct k8s_request *request, const int *relays, size_t count,
		   char *text, size_t capacity)
{
	fake_core.calls[1]++;
	keep(host, request, text, capacity);
	fake_core.relay_count = count;
	for (size_t i = 0; i < count && i < 8; i++)
		fake_core.relays[i] = relays[i];
	return fake_core.start_rc;
}

int k8s_core_finish(int handle, unsigned seconds, char *text, size_t capacity)
{
	fake_core.calls[2]++;
	fake_core.finished = handle;
	fake_core.seconds = seconds;
	snprintf(text, capacity, "%s", fake_core.text ? fake_core.text : "");
	return fake_core.finish_rc;
}

#ifndef FAKE_HOLE
int k8s_core_reap(const struct k8s_host *host, const struct k8s_request *request, unsigned seconds, char *text,
		  size_t capacity)
{
	fake_core.calls[3]++;
	fake_core.seconds = seconds;
	keep(host, request, text, capacity);
	return fake_core.reap_rc;
}
#endif
