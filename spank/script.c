// SPDX-License-Identifier: Apache-2.0
#include "script.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "say.h"

int script_peek(int fd, struct script *script)
{
	struct stat status;
	ssize_t got;
	/* One more than the head, to know whether that is all. */
	size_t want = SCRIPT_HEAD + 1;

	memset(script, 0, sizeof(*script));
	if (fstat(fd, &status))
		return errno;
	if (!S_ISREG(status.st_mode))
		return ESPIPE;
	script->text = malloc(want + 1);
	if (!script->text)
		return ENOMEM;
	while (script->length < want) {
		got = pread(fd, script->text + script->length, want - script->length, (off_t)script->length);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int error = errno;

			script_free(script);
			return error;
		}
		if (!got)
			break;
		script->length += (size_t)got;
	}
	script->whole = script->length <= SCRIPT_HEAD;
	if (!script->whole)
		script->length = SCRIPT_HEAD;
	script->text[script->length] = '\0';
	return 0;
}

int script_read(const char *path, bool strange, struct script *script)
{
	int fd, error;

	memset(script, 0, sizeof(*script));
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (strange ? O_NOFOLLOW : 0));
	if (fd < 0)
		return errno;
	error = script_peek(fd, script);
	close(fd);
	return error;
}

int script_wrap(const char *text, struct script *script)
{
	memset(script, 0, sizeof(*script));
	script->text = strdup(text);
	if (!script->text)
		return ENOMEM;
	script->length = strlen(text);
	script->whole = true;
	return 0;
}

void script_free(struct script *script)
{
	free(script->text);
	memset(script, 0, sizeof(*script));
}

/* A relative name is one of the folder that sbatch runs in. */
static char *absolute(const char *name)
{
	char here[PATH_MAX];

	if (*name == '/' || !getcwd(here, sizeof(here)))
		return strdup(name);
	return say_text("%s/%s", here, name);
}

static bool is_file(const char *path)
{
	struct stat status;

	return !stat(path, &status) && !S_ISDIR(status.st_mode);
}

static char *candidate(const char *folder, size_t length, const char *directory, const char *name)
{
	char *path = length && *folder == '.' ? say_text("%s/%.*s/%s", directory, (int)length, folder, name)
					      : say_text("%.*s/%s", (int)length, folder, name);

	if (path && is_file(path))
		return path;
	free(path);
	return NULL;
}

char *script_find(const char *name, const char *directory, const char *path)
{
	char *found;

	if (*name == '.' || *name == '/')
		return absolute(name);
	found = candidate(directory, strlen(directory), directory, name);
	while (!found && path && *path) {
		size_t length = strcspn(path, ":");

		if (length)
			found = candidate(path, length, directory, name);
		path += length;
		path += *path == ':';
	}
	if (!found)
		return absolute(name);
	if (*found != '/') {
		char *relative = found;

		found = absolute(relative);
		free(relative);
	}
	return found;
}
