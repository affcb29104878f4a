// SPDX-License-Identifier: Apache-2.0
#include "terminal.h"

#include <termios.h>
#include <unistd.h>

static struct termios before;
static bool changed, raw;

void terminal_wait(void)
{
	struct termios mode;

	if (tcgetattr(STDIN_FILENO, &before))
		return;
	mode = before;
	cfmakeraw(&mode);
	mode.c_lflag |= ISIG;
	mode.c_oflag = before.c_oflag;
	changed = !tcsetattr(STDIN_FILENO, TCSANOW, &mode);
}

void terminal_raw(void)
{
	struct termios mode;

	if (!changed)
		return;
	mode = before;
	cfmakeraw(&mode);
	raw = !tcsetattr(STDIN_FILENO, TCSANOW, &mode);
}

bool terminal_is_raw(void)
{
	return raw;
}

void terminal_restore(void)
{
	if (changed)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
	changed = raw = false;
}
