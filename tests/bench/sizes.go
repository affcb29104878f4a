// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/full"
)

// sizes are how much of each thing is measured.
type sizes struct {
	n          int           // repetitions of what takes seconds
	many       int           // jobs of no length
	together   numbers       // Pods at once
	steady     time.Duration // how long running jobs are looked at
	growthJobs int           // jobs for what stays behind of a thousand
	output     amount        // of one job's output
	streams    int           // that are open and carry nothing
	nodes      numbers       // of Kubernetes
	idle       int           // jobs that run at once on one Slurm node
	full       full.Sizes
}

func (s *sizes) flags(to *flag.FlagSet) {
	to.IntVar(&s.n, "n", 10, "repetitions of what takes seconds")
	to.IntVar(&s.many, "many", 200, "row 3: jobs of no length")
	s.together = numbers{20, 200}
	to.Var(&s.together, "together", "row 3: so many Pods are started at once, one `number` after the other, with commas between")
	to.DurationVar(&s.steady, "steady", 10*time.Minute, "row 4: how long running jobs are looked at")
	to.IntVar(&s.growthJobs, "growth-jobs", 100, "row 5: jobs for what stays behind of them")
	s.output = 1 << 30
	to.Var(&s.output, "output", "row 6: `bytes` of one job's output, as 16MiB")
	to.IntVar(&s.streams, "streams", 100, "row 6: streams that are open and carry nothing")
	s.nodes = numbers{10, 1000, 5000}
	to.Var(&s.nodes, "nodes", "row 7: `numbers` of Kubernetes nodes, as 10,1000,5000")
	to.IntVar(&s.idle, "idle", 1000, "row 8: jobs that run at once on one Slurm node")
	to.IntVar(&s.full.Pending, "pending", 500, "row 9: jobs that are pending in a full cluster")
	to.DurationVar(&s.full.Full, "full", 10*time.Minute, "row 9: how long the cluster is full")
	to.DurationVar(&s.full.Large, "large", 10*time.Minute, "row 9: how long a large job may wait for its start")
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

// numbers is a flag with commas between.
type numbers []int

func (n *numbers) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint([]int(*n)), " ", ","), "[]")
}

func (n *numbers) Set(text string) error {
	*n = nil
	for _, word := range strings.Split(text, ",") {
		number, err := strconv.Atoi(word)
		if err != nil || number < 1 {
			return fmt.Errorf("%q is no number of one or more", word)
		}
		*n = append(*n, number)
	}
	return nil
}
