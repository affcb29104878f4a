// SPDX-License-Identifier: Apache-2.0
/* podinit: process 1 of the container, one beside it, and the pump, see include/frames.h; under the
 * name of one of Slurm's commands that command, see include/commands.h. */
#include "../common/standard.h"
#include "client.h"
#include "init.h"
#include "join.h"
#include "options.h"
#include "pump.h"

#define EXIT_USAGE 64

int main(int argc, char **argv)
{
	const char *command = client_name(argv[0]);
	struct options options;

	k8s_standard_files();
	if (command)
		return client_run(command, argc, argv);
	if (options_read(&options, argc, argv))
		return EXIT_USAGE;
	switch (options.mode) {
	case MODE_PUMP:
		return pump_run(&options);
	case MODE_JOIN:
		return join_run(&options);
	default:
		return init_run(&options);
	}
}
