// SPDX-License-Identifier: Apache-2.0
#include "launch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "line.h"
#include "spawn.h"

static int read_socket(const char *text)
{
	struct stat status;
	char *end;
	long fd;

	if (!text || !*text)
		return -1;
	fd = strtol(text, &end, 10);
	if (*end || fd < 3 || fd > 1 << 20)
		return -1;
	if (fstat((int)fd, &status) || !S_ISSOCK(status.st_mode))
		return -1;
	return (int)fd;
}

/* The prepended form leaves the original as it was; the other lost argv[0]. Asked in this order,
 * since a job's own arguments may read "--task --". */
static char **original_of(int argc, char **argv)
{
	if (argc > 0 && getenv("SLURM_K8S_ARGV0")) {
		argv[0] = getenv("SLURM_K8S_ARGV0");
		return argv;
	}
	if (argc > 3 && !strcmp(argv[1], "--task") && !strcmp(argv[2], "--"))
		return argv + 3;
	return NULL;
}

int launch_read(struct launch *launch, int argc, char **argv)
{
	const char *batch = getenv("SLURM_K8S_BATCH");

	launch->socket = read_socket(getenv("SLURM_K8S_RELAY_FD"));
	launch->arguments = original_of(argc, argv);
	launch->pull_secret = getenv("SLURM_K8S_PULL_FILE");
	launch->batch = batch && !strcmp(batch, "1");
	if (launch->socket < 0 || !launch->arguments) {
		complain("the relay was not started by Slurm's plugin");
		return -1;
	}
	/* The strings stay where they are: unsetenv only forgets them. */
	unsetenv("SLURM_K8S_RELAY_FD");
	unsetenv("SLURM_K8S_ARGV0");
	unsetenv("SLURM_K8S_BATCH");
	unsetenv("SLURM_K8S_PULL_FILE");
	spawn_open();
	fcntl(launch->socket, F_SETFD, FD_CLOEXEC);
	return 0;
}
