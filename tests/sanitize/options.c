// SPDX-License-Identifier: Apache-2.0
/* How the sanitizers behave in one program; REPORTS is where their reports go, as that program sees it.
 * In the program and not in variables, which would reach the jobs and their containers. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#define COMMON "log_path=" REPORTS "/report:log_exe_name=1:exitcode=99:"

const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

/* - Slurm leaks by design, and relay and podinit end by _exit, which asks for no leaks.
 * - Go has signal stacks of its own on the threads that it shares with C.
 * - The library that is first in Slurm's programs is the one with this function.
 * - slurmstepd counts against the job's memory, podinit against the container's. */
const char *__asan_default_options(void)
{
	return COMMON "detect_leaks=0:use_sigaltstack=0:verify_asan_link_order=0:quarantine_size_mb=16:malloc_context_size=12";
}

const char *__ubsan_default_options(void)
{
	return COMMON "print_stacktrace=1";
}

/* Reports bear the host's name, since all Pods have a process 1. gcc's two libraries have a function of the same name
 * for this, and UBSan's own is found in it alone. It comes with the plugin, relay or podinit: Slurm's programs begin
 * without it. */
static void set_report_path(const char *library, const char *path)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
	void (*set_path)(const char *path) = NULL;

	if (handle)
		*(void **)&set_path = dlsym(handle, "__sanitizer_set_report_path");
	if (set_path)
		set_path(path);
}

static __attribute__((constructor(101))) void set_report_paths(void)
{
	char path[512], host[65] = "";

	gethostname(host, sizeof(host) - 1);
	snprintf(path, sizeof(path), REPORTS "/report.%s", host);
	set_report_path("libasan.so.8", path);
	set_report_path("libubsan.so.1", path);
}
