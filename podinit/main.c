// SPDX-License-Identifier: Apache-2.0
/* podinit: process 1 of the container, and the pump, see include/frames.h. */
#include "../common/standard.h"
#include "init.h"
#include "options.h"
#include "pump.h"

#define EXIT_USAGE 64

int main(int argc, char **argv)
{
	struct options options;

	k8s_standard_files();
	if (options_read(&options, argc, argv))
		return EXIT_USAGE;
	return options.pump ? pump_run(&options) : init_run(&options);
}
