// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "hello.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../common/bytes.h"
#include "../common/records.h"
#include "affinity.h"
#include "line.h"
#include "pieces.h"
#include "pull_secret.h"

/* Record values that are read piece by piece, as the script is. */
#define CHUNK 32768

static void add_arguments(char *const *arguments)
{
	for (; *arguments; arguments++)
		pieces_record(K8S_RECORD_ARGV, *arguments, strlen(*arguments));
}

static void add_environment(void)
{
	for (char **variable = environ; *variable; variable++)
		if (strchr(*variable, '='))
			pieces_record(K8S_RECORD_ENV, *variable, strlen(*variable));
}

/* The shell's name for the directory, where it is true: it may lead through links that
 * the image has and the node resolves. */
static const char *directory(char *buffer, size_t capacity, const char *pwd)
{
	struct stat named, real;

	if (pwd && pwd[0] == '/' && !stat(pwd, &named) && !stat(".", &real) && named.st_dev == real.st_dev &&
	    named.st_ino == real.st_ino)
		return pwd;
	return getcwd(buffer, capacity);
}

static const char *variable(const char *name)
{
	size_t length = strlen(name);

	for (char **each = environ; *each; each++)
		if (!strncmp(*each, name, length) && (*each)[length] == '=')
			return *each + length + 1;
	return NULL;
}

static void add_directory(void)
{
	char buffer[PATH_MAX];
	const char *path = directory(buffer, sizeof(buffer), variable("PWD"));

	if (path && path[0] == '/')
		pieces_record(K8S_RECORD_DIRECTORY, path, strlen(path));
}

static void add_umask(void)
{
	mode_t mask = umask(077);
	unsigned char value[4];

	umask(mask);
	k8s_put_u32(value, mask);
	pieces_record(K8S_RECORD_UMASK, value, sizeof(value));
}

static void add_limits(void)
{
	for (int resource = 0; resource < RLIM_NLIMITS; resource++) {
		unsigned char value[20];
		struct rlimit limit;

		if (getrlimit(resource, &limit))
			continue;
		k8s_put_u32(value, (uint32_t)resource);
		k8s_put_u64(value + 4, limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur);
		k8s_put_u64(value + 12, limit.rlim_max == RLIM_INFINITY ? UINT64_MAX : limit.rlim_max);
		pieces_record(K8S_RECORD_LIMIT, value, sizeof(value));
	}
}

static void add_cpus(void)
{
	static unsigned char value[2 * K8S_CPUS_BYTES];
	size_t size = affinity_read(value);

	if (size)
		pieces_record(K8S_RECORD_CPUS, value, size);
}

static void add_terminal(void)
{
	struct winsize size = { 0 };
	unsigned char value[4];

	ioctl(STDIN_FILENO, TIOCGWINSZ, &size);
	k8s_put_u16(value, size.ws_row);
	k8s_put_u16(value + 2, size.ws_col);
	pieces_record(K8S_RECORD_TTY, value, sizeof(value));
}

/* As of a batch script that was given no --error: Slurm opens the file twice, to append. */
static void add_one_output(void)
{
	int append = fcntl(STDOUT_FILENO, F_GETFL) & fcntl(STDERR_FILENO, F_GETFL) & O_APPEND;
	struct stat out, err;

	if (fstat(STDOUT_FILENO, &out) || fstat(STDERR_FILENO, &err) || out.st_dev != err.st_dev || out.st_ino != err.st_ino)
		return;
	/* Else each may write where the other has not come to yet. */
	if (append || !S_ISREG(out.st_mode))
		pieces_record(K8S_RECORD_ONE_OUTPUT, "", 0);
}

static int open_script(const char *path)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd >= 0 && !fstat(fd, &status) && S_ISREG(status.st_mode))
		return fd;
	complain("the job's script %s cannot be read: %s", path, fd < 0 ? strerror(errno) : "not a file");
	if (fd >= 0)
		close(fd);
	return -1;
}

static int add_script(const char *path)
{
	static char chunk[CHUNK];
	int fd = open_script(path);
	ssize_t count;

	if (fd < 0)
		return -1;
	/* At least one record, so that an empty script is one too. */
	do {
		count = read(fd, chunk, sizeof(chunk));
		if (count >= 0)
			pieces_record(K8S_RECORD_SCRIPT, chunk, (size_t)count);
	} while (count > 0);
	close(fd);
	if (count < 0)
		complain("the job's script %s cannot be read: %s", path, strerror(errno));
	return (int)count;
}

static int send_end(void)
{
	if (!pieces_end())
		return 0;
	if (errno == EMSGSIZE)
		complain("script, arguments and environment of the job are together larger than %d MiB",
			 K8S_RECORDS_MAX / 1024 / 1024);
	else
		complain("the plugin's core does not answer: %s", strerror(errno));
	return -1;
}

int hello_send(const struct launch *launch)
{
	pieces_begin(launch->socket);
	add_arguments(launch->arguments);
	add_environment();
	add_directory();
	add_umask();
	add_limits();
	add_cpus();
	add_one_output();
	if (relay.terminal)
		add_terminal();
	if (launch->batch && add_script(launch->arguments[0]))
		return -1;
	if (launch->pull_secret && pull_secret_add(launch->pull_secret))
		return -1;
	return send_end();
}
