// SPDX-License-Identifier: Apache-2.0
/* relay: stands where the task's process would on the Slurm node, see docs/architecture.md. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "../common/standard.h"
#include "../include/frames.h"
#include "allocated.h"
#include "commands.h"
#include "downlink.h"
#include "ending.h"
#include "hello.h"
#include "launch.h"
#include "line.h"
#include "relay.h"
#include "signals.h"
#include "sink.h"
#include "source.h"
#include "spawn.h"
#include "terminal.h"
#include "uplink.h"

struct relay relay = { .socket = -1 };

enum { CORE, SIGNALS, INPUT, OUT, ERR, COMMANDS, FILES };

static short when(bool wanted, short events)
{
	return wanted ? events : 0;
}

/* An fd with nothing to wait for is left out: poll would tell its hang-up for ever. */
static void watch(struct pollfd *file, int fd, short events)
{
	file->fd = events ? fd : -1;
	file->events = events;
	file->revents = 0;
}

static void wait_for_events(struct pollfd files[FILES], int signals)
{
	bool err = sink_waits(&sinks[K8S_STDERR]) || sink_waits(&sinks[K8S_NOTICE]);

	watch(&files[CORE], relay.socket, (short)(POLLIN | when(uplink_waits(), POLLOUT)));
	watch(&files[SIGNALS], signals, POLLIN);
	watch(&files[INPUT], STDIN_FILENO, when(source_wanted() && !uplink_waits() && relay.socket >= 0, POLLIN));
	watch(&files[OUT], STDOUT_FILENO, when(sink_waits(&sinks[K8S_STDOUT]), POLLOUT));
	watch(&files[ERR], STDERR_FILENO, when(err, POLLOUT));
	watch(&files[COMMANDS], spawn_socket(), POLLIN);
	if (poll(files, FILES, -1) < 0)
		for (int i = 0; i < FILES; i++)
			files[i].revents = 0;
}

static void write_sinks(const struct pollfd files[FILES])
{
	if (files[OUT].revents)
		sink_write(&sinks[K8S_STDOUT]);
	if (files[ERR].revents && sink_waits(&sinks[K8S_STDERR]))
		sink_write(&sinks[K8S_STDERR]);
	else if (files[ERR].revents)
		sink_write(&sinks[K8S_NOTICE]);
}

static void lose_core(void)
{
	close(relay.socket);
	relay.socket = -1;
}

static void talk(const struct pollfd files[FILES])
{
	int rc = 1;

	if (files[CORE].revents)
		rc = downlink_read();
	if (rc < 0)
		end_alone();
	if (rc == 0 || uplink_write(files[INPUT].revents))
		lose_core();
}

/* Until the task has ended, or the core is gone, and all output has found its way. */
static void run(int signals)
{
	struct pollfd files[FILES];

	while (!sinks_empty() || (relay.socket >= 0 && (!relay.exited || uplink_waits()))) {
		wait_for_events(files, signals);
		signals_read(signals);
		write_sinks(files);
		if (files[COMMANDS].revents)
			spawn_serve();
		if (relay.socket >= 0)
			talk(files);
		else if (relay.told_term && !relay.exited)
			end_alone();
	}
}

int main(int argc, char **argv)
{
	struct launch launch;
	int signals;

	k8s_standard_files();
	if (commands_called(argc, argv))
		return commands_run();
	if (allocated_called(argc, argv))
		allocated_run(argc, argv);
	if (launch_read(&launch, argc, argv))
		return 1;
	signals = signals_open();
	if (signals < 0) {
		complain("the relay cannot catch signals: %s", strerror(errno));
		return 1;
	}
	relay.terminal = isatty(STDIN_FILENO);
	if (hello_send(&launch))
		return 1;
	relay.socket = launch.socket;
	fcntl(relay.socket, F_SETFL, fcntl(relay.socket, F_GETFL) | O_NONBLOCK);
	if (relay.terminal)
		terminal_wait();
	sinks_open();
	downlink_open();
	run(signals);
	spawn_serve();
	if (relay.exited)
		end_as(relay.status);
	terminal_restore();
	complain("the connection between Slurm and the Pod was lost");
	end_alone();
}
