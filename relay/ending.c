// SPDX-License-Identifier: Apache-2.0
#include "ending.h"

#include <signal.h>
#include <unistd.h>

#include "../common/die.h"
#include "relay.h"
#include "sink.h"
#include "terminal.h"

static void put_back(void)
{
	sinks_close();
	terminal_restore();
}

void end_as(int status)
{
	put_back();
	k8s_die_as(status);
}

void end_alone(void)
{
	put_back();
	if (relay.told_term)
		k8s_die_of(SIGTERM);
	_exit(1);
}
