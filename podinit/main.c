// SPDX-License-Identifier: Apache-2.0
/* podinit: process 1 of the container, and the pump, see include/frames.h. */
#include <fcntl.h>
#include <unistd.h>

#include "init.h"
#include "options.h"
#include "pump.h"

#define EXIT_USAGE 64

/* So that no pipe or socket ever gets the number 0, 1 or 2. */
static void fill_standard_files(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd < 3);
	if (fd >= 3)
		close(fd);
}

int main(int argc, char **argv)
{
	struct options options;

	fill_standard_files();
	if (options_read(&options, argc, argv))
		return EXIT_USAGE;
	return options.pump ? pump_run(&options) : init_run(&options);
}
