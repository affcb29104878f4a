// SPDX-License-Identifier: Apache-2.0
#include "terminal.h"

#include <stdbool.h>
#include <termios.h>
#include <unistd.h>

static struct termios before;
static bool raw;

void terminal_raw(void)
{
	struct termios mode;

	if (tcgetattr(STDIN_FILENO, &before))
		return;
	mode = before;
	cfmakeraw(&mode);
	raw = !tcsetattr(STDIN_FILENO, TCSANOW, &mode);
}

void terminal_restore(void)
{
	if (raw)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
	raw = false;
}
