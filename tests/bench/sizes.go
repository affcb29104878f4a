// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// sizes are how much of each thing is measured.
type sizes struct {
	n       int    // repetitions of what takes seconds
	output  amount // of one job's output
	streams int    // that are open and carry nothing
	idle    int    // jobs that run at once on one Slurm node
}

func (s *sizes) flags(to *flag.FlagSet) {
	to.IntVar(&s.n, "n", 10, "repetitions of what takes seconds")
	s.output = 1 << 30
	to.Var(&s.output, "output", "row 6: `bytes` of one job's output, as 16MiB")
	to.IntVar(&s.streams, "streams", 100, "row 6: streams that are open and carry nothing")
	to.IntVar(&s.idle, "idle", 1000, "row 8: jobs that run at once on one Slurm node")
}

// amount of bytes, which may be said as 16MiB or 1G.
type amount int64

func (a *amount) String() string {
	return resource.NewQuantity(int64(*a), resource.BinarySI).String() + "B"
}

func (a *amount) Set(text string) error {
	q, err := resource.ParseQuantity(strings.TrimSuffix(text, "B"))
	*a = amount(q.Value())
	return err
}
