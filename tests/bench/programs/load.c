/* SPDX-License-Identifier: Apache-2.0 */
/* load CORE: loads the core as the plugin does and calls it once; prints the milliseconds until it was loaded and until the
 * call was back, and the kilobytes (1000 bytes) of anonymous memory that there are more then. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static double anonymous(void)
{
	char line[256];
	double kilobytes = 0;
	FILE *file = fopen("/proc/self/smaps_rollup", "r");

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "Anonymous:", 10))
			sscanf(line + 10, "%lf", &kilobytes);
	if (file)
		fclose(file);
	return kilobytes * 1.024;
}

int main(int argc, char **argv)
{
	double before = anonymous(), begun = now(), loaded, called;
	void *core = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*abi)(void);

	if (!core) {
		fprintf(stderr, "load: %s\n", argc == 2 ? dlerror() : "which core?");
		return 1;
	}
	loaded = now();
	*(void **)&abi = dlsym(core, "k8s_core_abi");
	if (!abi || abi() <= 0)
		return 1;
	called = now();
	printf("%.3f %.3f %.0f\n", loaded - begun, called - begun, anonymous() - before);
	return 0;
}
