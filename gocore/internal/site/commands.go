// SPDX-License-Identifier: Apache-2.0

package site

import (
	"path"
	"strings"
)

// What commands.allow may be.
const (
	CommandsNone    = "none"
	CommandsQueries = "queries"
	CommandsAll     = "all"
)

// queryOnly marks a command of which only what shows is offered (frames.h, K8S_RECORD_COMMAND).
const queryOnly = " queries"

// Offered are the commands that tasks in Pods may call, as the relay of commands takes them.
func (c Commands) Offered() []string {
	switch c.Allow {
	case CommandsQueries:
		return []string{"squeue", "sinfo", "sacct", "scontrol" + queryOnly}
	case CommandsAll:
		return []string{"srun", "sbatch", "salloc", "scancel", "squeue", "sinfo", "sacct", "scontrol"}
	}
	return nil
}

// Names are the commands' alone.
func (c Commands) Names() []string {
	names := c.Offered()
	for i := range names {
		names[i] = strings.TrimSuffix(names[i], queryOnly)
	}
	return names
}

// maxDirectories is far below what the relay takes.
const maxDirectories = 32

func (c *Config) validateCommands(f *faults) {
	f.oneOf("commands.allow", c.Commands.Allow, CommandsNone, CommandsQueries, CommandsAll)
	if len(c.Commands.Path) > maxDirectories {
		f.add("commands.path", "%d directories, at most %d are looked in", len(c.Commands.Path), maxDirectories)
	}
	if len(c.Commands.Path) == 0 && c.Commands.Allow != CommandsNone {
		f.add("commands.path", "no directory: where are Slurm's commands on the Slurm nodes?")
	}
	for _, directory := range c.Commands.Path {
		f.absolute("commands.path", directory)
		if path.IsAbs(directory) && path.Clean(directory) != directory {
			f.add("commands.path", "%q has a part that leads nowhere or back; write %q", directory, path.Clean(directory))
		}
	}
}
