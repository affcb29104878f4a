// SPDX-License-Identifier: Apache-2.0

// slurm-k8s is the command beside the plugin, for users and admins. A file per command.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Exit codes.
const (
	exitOK    = 0
	exitFault = 1 // said on standard error
	exitUsage = 2
)

// defaultConfig is the site's configuration, defaultLibexec where the plugin's programs are.
const (
	defaultConfig  = "/etc/slurm/k8s.yaml"
	defaultLibexec = "/usr/libexec/slurm-k8s"
)

// command is one word after slurm-k8s.
type command struct {
	name, arguments, about string
	run                    func(ctx context.Context, arguments []string, out, faults io.Writer) int
}

// commands in the order of the help.
func commands() []command {
	return []command{
		{"validate", "[OPTION]... JOBFILE", "check a job file as sbatch would, and submit nothing", validate},
		{"check-config", "[OPTION]... [FILE]", "check the site's configuration, and say every fault with its line", checkConfig},
		{"render", "[OPTION]... JOBFILE...", "print the Pods that job files would get, and make none", render},
		{"doctor", "[OPTION]...", "look whether the parts of the installation fit together, from this host", lookAtAll},
		{"gc", "[OPTION]...", "remove what no job stands behind, publish the nodes' shapes", gc},
		{"version", "", "print the version", printVersion},
		{"help", "", "print this text", printHelp},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run dispatches and nothing else.
func run(ctx context.Context, arguments []string, out, faults io.Writer) int {
	if len(arguments) == 0 {
		usage(faults)
		return exitUsage
	}
	name := arguments[0]
	switch name {
	case "-h", "-help", "--help":
		name = "help"
	case "--version":
		name = "version"
	}
	for _, c := range commands() {
		if c.name == name {
			return c.run(ctx, arguments[1:], out, faults)
		}
	}
	fmt.Fprintf(faults, "slurm-k8s: no such command: %q (try: slurm-k8s help)\n", name)
	return exitUsage
}

// newFlags makes a command's flags.
func newFlags(name string, faults io.Writer) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(faults)
	flags.Usage = func() {} // parse does it, and where it was asked for
	return flags
}

// parse reads a command's flags; done with the exit code where there is nothing more to do.
func parse(flags *flag.FlagSet, arguments []string, out, faults io.Writer) (code int, done bool) {
	err := flags.Parse(arguments)
	switch {
	case err == nil:
		return exitOK, false
	case errors.Is(err, flag.ErrHelp):
		describe(flags, out)
		return exitOK, true
	}
	fmt.Fprintf(faults, "(try: slurm-k8s %s --help)\n", flags.Name())
	return exitUsage, true
}

// optionWidth is the column of options; what a longer one is about stands below it.
const optionWidth = 25

// describe prints a command's options as the GNU tools do.
func describe(flags *flag.FlagSet, out io.Writer) {
	for _, c := range commands() {
		if c.name == flags.Name() {
			fmt.Fprintf(out, "Usage: slurm-k8s %s %s\n%s\n\n", c.name, c.arguments, sentence(c.about))
		}
	}
	flags.VisitAll(func(f *flag.Flag) {
		value, about := flag.UnquoteUsage(f)
		text := "--" + f.Name
		if value != "" {
			text += "=" + value
		}
		if len(text) > optionWidth {
			text += "\n" + strings.Repeat(" ", 2+optionWidth)
		}
		fmt.Fprintf(out, "  %-*s %s\n", optionWidth, text, about)
	})
}
