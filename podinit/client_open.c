// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "client_open.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../common/bytes.h"
#include "../common/message.h"
#include "../common/records.h"
#include "client_words.h"
#include "log.h"

int client_message(struct k8s_buffer *out, uint8_t kind, const void *payload, uint32_t length)
{
	struct k8s_message message = { .kind = kind, .length = length };
	unsigned char header[K8S_MESSAGE_HEADER];

	k8s_message_encode(&message, header);
	return k8s_buffer_append(out, header, sizeof(header)) || k8s_buffer_append(out, payload, length) ? -1 : 0;
}

static int add(struct k8s_buffer *records, unsigned char tag, const void *value, size_t length)
{
	return k8s_record_append(records, tag, 0, value, (uint32_t)length);
}

static int add_text(struct k8s_buffer *records, unsigned char tag, const char *text)
{
	return add(records, tag, text, strlen(text));
}

static int add_directory(struct k8s_buffer *records)
{
	char path[PATH_MAX];

	return getcwd(path, sizeof(path)) && path[0] == '/' ? add_text(records, K8S_RECORD_DIRECTORY, path) : 0;
}

static int add_terminals(struct k8s_buffer *records, unsigned char terminals)
{
	struct winsize size = { 0 };
	unsigned char value[4];

	ioctl(STDIN_FILENO, TIOCGWINSZ, &size);
	k8s_put_u16(value, size.ws_row);
	k8s_put_u16(value + 2, size.ws_col);
	return add(records, K8S_RECORD_TTY, value, sizeof(value)) || add(records, K8S_RECORD_TERMINALS, &terminals, 1);
}

/* sbatch would look for the file where it runs, which is the Slurm node. */
static int add_script(struct k8s_buffer *records, int index, const char *path)
{
	unsigned char bytes[16384], at[4];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat status;
	ssize_t count = -1;
	int failed = 0;

	if (fd >= 0 && !fstat(fd, &status) && S_ISDIR(status.st_mode))
		errno = EISDIR;
	else if (fd >= 0)
		while (!failed && (count = read(fd, bytes, sizeof(bytes))) > 0)
			failed = add(records, K8S_RECORD_SCRIPT, bytes, (size_t)count);
	if (fd < 0 || count < 0)
		say("sbatch: error: Unable to open file %s", path);
	if (fd >= 0)
		close(fd);
	k8s_put_u32(at, (uint32_t)index);
	if (count < 0)
		return -2;
	return failed || add(records, K8S_RECORD_SCRIPT_WORD, at, sizeof(at)) ? -1 : 0;
}

static int add_all(struct k8s_buffer *records, const char *name, int argc, char **argv, unsigned char terminals)
{
	int script = !strcmp(name, "sbatch") ? words_script(argc, argv) : 0;
	int failed = add_text(records, K8S_RECORD_ARGV, name);

	for (int i = 1; i < argc; i++)
		failed |= add_text(records, K8S_RECORD_ARGV, argv[i]);
	for (char **variable = environ; *variable; variable++)
		if (strchr(*variable, '='))
			failed |= add_text(records, K8S_RECORD_ENV, *variable);
	failed |= add_directory(records);
	if (terminals)
		failed |= add_terminals(records, terminals);
	if (script && !failed)
		return add_script(records, script, argv[script]);
	return failed ? -1 : 0;
}

static int add_pieces(struct k8s_buffer *out, const struct k8s_buffer *records)
{
	size_t at = 0;

	while (at < records->size) {
		size_t some = records->size - at < K8S_MESSAGE_MAX ? records->size - at : K8S_MESSAGE_MAX;

		if (client_message(out, K8S_CALL_OPEN, records->bytes + at, (uint32_t)some))
			return -1;
		at += some;
	}
	return client_message(out, K8S_CALL_RUN, NULL, 0);
}

int client_open(struct k8s_buffer *out, const char *name, int argc, char **argv, unsigned char terminals)
{
	struct k8s_buffer records = { .limit = K8S_CALL_RECORDS };
	int rc = add_all(&records, name, argc, argv, terminals);

	if (!rc)
		rc = add_pieces(out, &records);
	if (rc == -1)
		say("slurm-k8s: error: %s: arguments, environment and script together: %s", name,
		    errno == EMSGSIZE ? "more than 8 MiB" : strerror(errno));
	k8s_buffer_clear(&records);
	return rc ? -1 : 0;
}
