// SPDX-License-Identifier: Apache-2.0
/*
 * TARGET [-s SECONDS] [-r SEED] [FILE...]: changes inputs at random for so long, and keeps those that
 * reach code that none did before. With files: runs these alone, as to see a finding again.
 * What a sanitizer, a rule or the clock (10 s for one input) finds ends it with 1 or the
 * sanitizer's code; the input is then in TARGET.SEED.input of the directory FUZZ_FINDINGS (/tmp).
 */
#define _GNU_SOURCE
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fuzz_change.h"

#define MAP 16384
#define KEPT_MOST 4096

static unsigned char map[MAP] __attribute__((aligned(8))), known[MAP];
static uintptr_t before;
static struct fuzz_input kept[KEPT_MOST];
static size_t kept_count;
static struct fuzz_input now;
static char finding[512];
extern const char __executable_start;

/* Called by the compiler at every branch of what is fuzzed. */
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
	uintptr_t here = (uintptr_t)__builtin_return_address(0) - (uintptr_t)&__executable_start;

	map[(here ^ before) % MAP]++;
	before = here >> 1;
}

static void write_finding(void)
{
	int fd = open(finding, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, now.data, now.size) < 0)
		return;
	close(fd);
	dprintf(2, "fuzz: the input is in %s\n", finding);
}

static void too_slow(int number)
{
	static const char why[] = "fuzz: no end within 10 s\n";

	(void)number;
	(void)!write(2, why, sizeof(why) - 1);
	write_finding();
	_exit(1);
}

void fuzz_fail(const char *file, int line, const char *condition)
{
	fprintf(stderr, "fuzz: %s:%d: not true: %s\n", file, line, condition);
	write_finding();
	_exit(1);
}

static unsigned char bucket(unsigned char count)
{
	return count < 4 ? (unsigned char)(1u << count >> 1) : count < 16 ? 8 : count < 64 ? 16 : 32;
}

/* Whether the run reached a branch, or a number of times, that none did before. */
static bool is_new(void)
{
	bool found = false;

	for (size_t i = 0; i < MAP; i++)
		if (!(i % 8) && !*(uint64_t *)(map + i))
			i += 7;
		else if (map[i] && (bucket(map[i]) & ~known[i])) {
			known[i] |= bucket(map[i]);
			found = true;
		}
	return found;
}

static bool run(const unsigned char *data, size_t size)
{
	now.data = malloc(size ? size : 1);
	now.size = size;
	memcpy(now.data, data, size);
	memset(map, 0, sizeof(map));
	before = 0;
	alarm(10);
	fuzz_one(now.data, size);
	alarm(0);
	free(now.data);
	now = (struct fuzz_input){ 0 };
	return is_new();
}

void fuzz_add(const void *data, size_t size)
{
	if (kept_count == KEPT_MOST || size > FUZZ_MOST)
		return;
	kept[kept_count].data = malloc(size ? size : 1);
	memcpy(kept[kept_count].data, data, size);
	kept[kept_count++].size = size;
}

static int again(const char *path)
{
	static unsigned char data[FUZZ_MOST];
	int fd = open(path, O_RDONLY);
	ssize_t size = fd < 0 ? -1 : read(fd, data, sizeof(data));

	if (size < 0) {
		perror(path);
		return 1;
	}
	close(fd);
	run(data, (size_t)size);
	return 0;
}

static double seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static unsigned long search(double limit)
{
	static unsigned char data[FUZZ_MOST];
	double end = seconds() + limit;
	unsigned long count = 0;

	for (size_t i = 0; i < kept_count; i++)
		run(kept[i].data, kept[i].size);
	while (seconds() < end) {
		size_t size = fuzz_change(kept, kept_count, data);

		count++;
		if (run(data, size))
			fuzz_add(data, size);
	}
	return count;
}

int main(int argc, char **argv)
{
	const char *folder = getenv("FUZZ_FINDINGS");
	unsigned long seed = (unsigned long)time(NULL), count;
	double limit = 20;
	int option;

	while ((option = getopt(argc, argv, "s:r:")) > 0) {
		if (option == 's')
			limit = strtod(optarg, NULL);
		else if (option == 'r')
			seed = strtoul(optarg, NULL, 10);
		else
			return 2;
	}
	snprintf(finding, sizeof(finding), "%s/%s.%lu.input", folder ? folder : "/tmp", program_invocation_short_name, seed);
	__sanitizer_set_death_callback(write_finding);
	signal(SIGALRM, too_slow);
	fuzz_seed(seed);
	for (int i = optind; i < argc; i++)
		if (again(argv[i]))
			return 1;
	if (optind < argc)
		return 0;
	fuzz_seeds();
	count = search(limit);
	printf("%s: %lu inputs, %zu kept, seed %lu\n", program_invocation_short_name, count, kept_count, seed);
	fflush(stdout);
	for (size_t i = 0; i < kept_count; i++)
		free(kept[i].data);
	return 0;
}
