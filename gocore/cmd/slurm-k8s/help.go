// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
)

func printHelp(_ context.Context, _ []string, out, _ io.Writer) int {
	usage(out)
	return exitOK
}

func printVersion(_ context.Context, _ []string, out, _ io.Writer) int {
	fmt.Fprintf(out, "slurm-k8s %s (%s, %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return exitOK
}

func usage(out io.Writer) {
	fmt.Fprint(out, "Usage: slurm-k8s COMMAND [OPTION]...\nRuns beside the Slurm plugin that puts jobs into Kubernetes Pods.\n\n")
	for _, c := range commands() {
		fmt.Fprintf(out, "  %-12s %s\n", c.name, c.about)
	}
	fmt.Fprint(out, "\nslurm-k8s COMMAND --help tells a command's options.\n")
}

// sentence begins with a capital and ends with a full stop.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] + "." }

// version is set by the linker.
var version = "dev"
