/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of include/gocore.h, handed on to Go. Here and not in Go, so that the
 * header's prototypes (const and all) are the ones that are compiled. */
#include "../include/gocore.h"
#include "_cgo_export.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int k8s_core_abi(void)
{
	coreReady();
	return K8S_CORE_ABI;
}

EXPORT int k8s_core_validate(const struct k8s_host *host, const struct k8s_request *request, char *text,
			     size_t capacity)
{
	return coreValidate((struct k8s_host *)host, (struct k8s_request *)request, text, capacity);
}

EXPORT int k8s_core_start(const struct k8s_host *host, const struct k8s_request *request, const int *relays,
			  size_t count, char *text, size_t capacity)
{
	return coreStart((struct k8s_host *)host, (struct k8s_request *)request, (int *)relays, count, text, capacity);
}

EXPORT int k8s_core_finish(int handle, unsigned seconds, char *text, size_t capacity)
{
	return coreFinish(handle, seconds, text, capacity);
}

EXPORT int k8s_core_reap(const struct k8s_host *host, const struct k8s_request *request, unsigned seconds, char *text,
			 size_t capacity)
{
	return coreReap((struct k8s_host *)host, (struct k8s_request *)request, seconds, text, capacity);
}
