// SPDX-License-Identifier: Apache-2.0
#include "inside.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../include/commands.h"
#include "component_options.h"
#include "components.h"
#include "options.h"
#include "request.h"
#include "say.h"

/* All components of a step have srun's one environment. */
static bool is_shared(void)
{
	return spank_context() == S_CTX_LOCAL && components_are_several();
}

void inside_enter(void)
{
	const char *image = getenv(K8S_INSIDE_IMAGE), *export = tool_option("export");

	if (!components_here())
		unsetenv(K8S_INSIDE_EXPORT);
	if (!image || !*image)
		return;
	options_take(OPTION_IMAGE, image, SOURCE_INSIDE);
	/* Of sbatch's and salloc's the first speaks for the script and the command. */
	if (components_here() || is_shared())
		return;
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

void inside_find_faults(char **faults)
{
	const char *image = getenv(K8S_INSIDE_IMAGE);

	if (!image || !*image || !is_shared())
		return;
	if (tool_option("chdir"))
		say_append(faults, "--chdir: cannot be given to one of several components by an srun that is called in "
				   "a Pod: start an srun for each");
	if (strcmp(component_typed_export(), "ALL"))
		say_append(faults, "--export=%s: cannot be given to one of several components by an srun that is called "
				   "in a Pod: start an srun for each", component_typed_export());
}

void inside_hide(spank_t spank)
{
	spank_unsetenv(spank, K8S_INSIDE_IMAGE);
	spank_unsetenv(spank, K8S_INSIDE_DIRECTORY);
	spank_unsetenv(spank, K8S_INSIDE_EXPORT);
}
