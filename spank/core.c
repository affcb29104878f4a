// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "core.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>

static struct core table;
static bool is_loaded;

static bool look_up(void *library, const char *name, void **address, char *text, size_t capacity)
{
	*address = dlsym(library, name);
	if (!*address)
		snprintf(text, capacity, "gocore.so has no %s", name);
	return *address;
}

/* Go raises the soft limit on open files of its whole process (its syscall/rlimit.go); sbatch
 * hands that on to the job, and slurmstepd to the epilogs of tasks. */
static int abi_without_raise(const struct rlimit *files, bool is_known)
{
	int abi = table.abi(); /* Go has begun by then, and raises no more */

	if (is_known)
		setrlimit(RLIMIT_NOFILE, files);
	return abi;
}

const struct core *core_load(const char *libexec, char *text, size_t capacity)
{
	char path[PATH_MAX];
	struct rlimit files;
	bool is_known;
	void *library;
	int abi;

	*text = '\0';
	if (is_loaded)
		return &table;
	if ((size_t)snprintf(path, sizeof(path), "%s/gocore.so", libexec) >= sizeof(path)) {
		snprintf(text, capacity, "libexec= is too long");
		return NULL;
	}
	is_known = !getrlimit(RLIMIT_NOFILE, &files);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		snprintf(text, capacity, "cannot load the core: %s", dlerror());
		return NULL;
	}
	if (!look_up(library, "k8s_core_abi", (void **)&table.abi, text, capacity) ||
	    !look_up(library, "k8s_core_validate", (void **)&table.validate, text, capacity) ||
	    !look_up(library, "k8s_core_start", (void **)&table.start, text, capacity) ||
	    !look_up(library, "k8s_core_finish", (void **)&table.finish, text, capacity) ||
	    !look_up(library, "k8s_core_reap", (void **)&table.reap, text, capacity))
		return NULL;
	abi = abi_without_raise(&files, is_known);
	if (abi != K8S_CORE_ABI) {
		snprintf(text, capacity, "%s speaks version %d, this plugin version %d: install both from one package",
			 path, abi, K8S_CORE_ABI);
		return NULL;
	}
	is_loaded = true;
	return &table;
}

void core_forget(void)
{
	is_loaded = false;
}
