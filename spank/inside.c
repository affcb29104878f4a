// SPDX-License-Identifier: Apache-2.0
#include "inside.h"

#include <stdlib.h>

#include "../include/commands.h"
#include "options.h"
#include "request.h"

void inside_enter(void)
{
	const char *image = getenv(K8S_INSIDE_IMAGE), *export = tool_option("export");

	unsetenv(K8S_INSIDE_EXPORT);
	if (!image || !*image)
		return;
	options_take(OPTION_IMAGE, image, SOURCE_INSIDE);
	/* A directory of Slurm's own that was asked for is more than where the tool was called. */
	if (tool_option("chdir"))
		unsetenv(K8S_INSIDE_DIRECTORY);
	/* Slurm heeds it for the variables that it sees, and not for those that are carried. Without
	 * memory nothing is carried. */
	if (export && setenv(K8S_INSIDE_EXPORT, export, 1))
		unsetenv(K8S_INSIDE_IMAGE);
}

void inside_leave(void)
{
	unsetenv(K8S_INSIDE_IMAGE);
	unsetenv(K8S_INSIDE_DIRECTORY);
	unsetenv(K8S_INSIDE_EXPORT);
}
