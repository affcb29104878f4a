/* SPDX-License-Identifier: Apache-2.0 */
/* spank_life.h - the life of a step on the fake Slurm, for the tests of slurmstepd's side. */
#ifndef SPANK_LIFE_H
#define SPANK_LIFE_H

#include "spank_host.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../spank/step.h"

static struct fake_core *core;

static inline void load(const char *kind)
{
	host.context = S_CTX_REMOTE;
	core = fake_core_ok();
	fake_install(kind);
	host.argv[0] = fake_file("slurm_script", "#!/bin/sh\necho\n");
	assert_int_equal(slurm_spank_init(SP, fake_argc, fake_argv), 0);
}

static inline void begin(const char *kind)
{
	load(kind);
	/* Slurm calls it twice in a step. */
	assert_int_equal(fake_option("k8s-image", "a:1", 1), 0);
	assert_int_equal(fake_option("k8s-image", "a:1", 1), 0);
}

static inline void prepare(void)
{
	assert_int_equal(slurm_spank_init_post_opt(SP, fake_argc, fake_argv), 0);
}

static inline void fork_done(void)
{
	assert_int_equal(slurm_spank_task_post_fork(SP, fake_argc, fake_argv), 0);
}

static inline int become(void)
{
	return slurm_spank_task_init(SP, fake_argc, fake_argv);
}

static inline void finish(void)
{
	assert_int_equal(slurm_spank_exit(SP, fake_argc, fake_argv), 0);
}

/* In the test there is no fork: the child's end is kept for it. */
static inline int keep_child_end(void)
{
	return fcntl(step_here()->pairs[0][1], F_DUPFD_CLOEXEC, 100);
}

/* A step up to the fork. Returns the child's end. */
static inline int begin_forked(const char *kind)
{
	int fd;

	begin(kind);
	prepare();
	fd = keep_child_end();
	fork_done();
	return fd;
}

static inline void give_child_end(int fd)
{
	step_here()->pairs[0][1] = fd;
}

static inline bool has_marker_of(const char *name)
{
	char path[128];
	struct stat status;

	snprintf(path, sizeof(path), "%s/state/%s", fake_folder, name);
	return !stat(path, &status);
}

static inline bool has_marker(void)
{
	return has_marker_of("n1.42");
}

static inline void asked(const char *field)
{
	char line[1024];

	snprintf(line, sizeof(line), "%s\n", field);
	if (!strstr(core->fields, line))
		fail_msg("no %s in %s", field, core->fields);
}

static inline void close_relays(void)
{
	for (size_t i = 0; i < core->relay_count; i++)
		close(core->relays[i]);
}

/* The parent's callbacks are well, the task says why and fails. */
static inline void fails_in_task(const char *why)
{
	char *argv0 = host.argv[0];
	int fd;

	prepare();
	fd = step_here()->pairs ? keep_child_end() : -1;
	fork_done();
	if (step_here()->pairs)
		give_child_end(fd);
	assert_int_equal(become(), -1);
	assert_logged(why);
	assert_ptr_equal(host.argv[0], argv0);
	finish();
	assert_false(has_marker());
}

#endif
