// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../include/frames.h"
#include "log.h"

/* A month is beyond every sane bound, and far from overflow in milliseconds. */
#define SECONDS_MAX (31L * 24 * 3600)

/* The value of `argument` when it is `--name=value`, else NULL. */
static const char *value_of(const char *argument, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(argument, "--", 2) || strncmp(argument + 2, name, length) || argument[2 + length] != '=')
		return NULL;
	return argument + 2 + length + 1;
}

static int read_session(const char *text, uint64_t *session)
{
	char *end;

	if (strlen(text) != 16 || strspn(text, "0123456789abcdefABCDEF") != 16)
		return -1;
	*session = strtoull(text, &end, 16);
	return *session ? 0 : -1;
}

static int read_seconds(const char *text, int64_t *milliseconds)
{
	char *end;
	long seconds;

	errno = 0;
	seconds = strtol(text, &end, 10);
	if (errno || end == text || *end || seconds < 0 || seconds > SECONDS_MAX)
		return -1;
	*milliseconds = (int64_t)seconds * 1000;
	return 0;
}

static int read_argument(struct options *options, const char *argument)
{
	const char *value;

	if ((value = value_of(argument, "session")))
		return read_session(value, &options->session);
	if ((value = value_of(argument, "orphan-timeout")))
		return read_seconds(value, &options->orphan_timeout_ms);
	if ((value = value_of(argument, "start-timeout")))
		return read_seconds(value, &options->start_timeout_ms);
	if ((value = value_of(argument, "linger")))
		return read_seconds(value, &options->linger_ms);
	if ((value = value_of(argument, "empty-linger")))
		return read_seconds(value, &options->empty_linger_ms);
	if ((value = value_of(argument, "run")))
		options->run = value;
	else if ((value = value_of(argument, "cgroup")))
		options->cgroup = value;
	else if ((value = value_of(argument, "report")))
		options->report = value;
	else if ((value = value_of(argument, "log")))
		options->log = value;
	return value ? 0 : -1;
}

static const struct options defaults = {
	.orphan_timeout_ms = 1800 * 1000,
	.start_timeout_ms = 600 * 1000,
	.linger_ms = 1800 * 1000,
	.empty_linger_ms = 60 * 1000,
	.run = K8S_RUN_DIRECTORY,
	.cgroup = "/sys/fs/cgroup",
	.report = "/dev/termination-log",
	.log = "/proc/1/fd/2",
};

static const char *const modes[] = { [MODE_INIT] = "init", [MODE_PUMP] = "pump", [MODE_JOIN] = "join" };

static int read_mode(struct options *options, const char *word)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (word && !strcmp(word, modes[i])) {
			options->mode = (enum mode)i;
			return 0;
		}
	}
	say("podinit " PODINIT_VERSION ": usage: podinit init|pump|join --session=HEX16 ...");
	return -1;
}

int options_read(struct options *options, int argc, char **argv)
{
	*options = defaults;
	if (read_mode(options, argc < 2 ? NULL : argv[1]))
		return -1;
	for (int i = 2; i < argc; i++) {
		if (read_argument(options, argv[i])) {
			say("podinit: cannot understand \"%s\"", argv[i]);
			return -1;
		}
	}
	/* The termination message is process 1's to leave. */
	if (options->mode == MODE_JOIN)
		options->report = "/dev/null";
	if (!options->session)
		say("podinit: --session is missing");
	return options->session ? 0 : -1;
}
