// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "commands.h"

/* Finds `name`, of `length` bytes; returns its place, or that of the ending NULL. */
static char **find(char **variables, const char *name, size_t length)
{
	while (*variables && (strncmp(*variables, name, length) || (*variables)[length] != '='))
		variables++;
	return variables;
}

/* `variables` has room for one more. What has no name is left out. */
static void put(char **variables, char *variable)
{
	const char *equals = strchr(variable, '=');

	if (equals && equals != variable)
		*find(variables, variable, (size_t)(equals - variable)) = variable;
}

static void put_value(char **variables, const char *name, const char *value)
{
	char *variable;

	if (asprintf(&variable, "%s=%s", name, value) >= 0)
		put(variables, variable);
}

static size_t count_of(char **variables)
{
	size_t count = 0;

	while (variables[count])
		count++;
	return count;
}

static void put_home(char **variables, const struct k8s_entry *home)
{
	struct stat status;

	if (home && !stat((const char *)home->value, &status) && S_ISDIR(status.st_mode))
		put_value(variables, "HOME", (const char *)home->value);
}

static void put_commands(char **variables)
{
	const char *bin = commands_bin(), *path = environment_get(variables, "PATH");
	size_t length = bin ? strlen(bin) : 0;
	char *longer;

	if (!bin || (path && !strncmp(path, bin, length) && (path[length] == ':' || !path[length])))
		return;
	if (asprintf(&longer, "%s:%s", bin, path && *path ? path : COMMAND_USUAL_PATH) >= 0)
		put_value(variables, "PATH", longer);
}

char **environment_of(const struct plan *plan, uint32_t number, const char *directory)
{
	size_t image = count_of(environ);
	/* Three more for PWD, HOME and PATH, one for the end. */
	char **variables = calloc(image + plan->count + 4, sizeof(*variables));
	const struct k8s_entry *entry;
	size_t at = 0;

	if (!variables)
		return NULL;
	memcpy(variables, environ, image * sizeof(*variables));
	while ((entry = plan_next(plan, number, K8S_RECORD_ENV, &at)))
		put(variables, (char *)entry->value);
	if (directory)
		put_value(variables, "PWD", directory);
	put_home(variables, plan_last(plan, number, K8S_RECORD_HOME));
	put_commands(variables);
	return variables;
}

const char *environment_get(char *const *variables, const char *name)
{
	size_t length = strlen(name);
	char *const *found = find((char **)variables, name, length);

	return *found ? *found + length + 1 : NULL;
}
