// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"fmt"
	"io"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/kube"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/submission"
)

// complain prints faults, a line each, and is the exit code for it.
func complain(faults io.Writer, command string, lines ...string) int {
	name := "slurm-k8s: "
	if command != "" {
		name = "slurm-k8s " + command + ": "
	}
	for _, line := range lines {
		fmt.Fprintln(faults, name+line)
	}
	return exitFault
}

// isSet says whether a flag was given.
func isSet(flags *flag.FlagSet, name string) bool {
	found := false
	flags.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

// shapesOf reads the published shapes with the reader's credential; nil where the site has none.
func shapesOf(config *site.Config) submission.Shapes {
	if config.ReaderKubeconfig == "" {
		return nil
	}
	return submission.PublishedShapes(config.SystemNamespace(), func() (*kube.Client, error) {
		return kube.Open(config.ReaderKubeconfig, nil)
	})
}
