// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/gauge"
	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

const many = 100

// manyJobs compares how fast jobs of no length go.
func (b *bench) manyJobs() (gauge.Lines, error) {
	array := func(args ...string) func() error {
		return func() error {
			id, err := b.sbatch(append([]string{fmt.Sprintf("--array=1-%d", many), "-o", "/dev/null", "--mem=50M"}, append(args, "--wrap", "true")...)...)
			if err != nil {
				return err
			}
			return allEnded(id)
		}
	}
	bare, err := newBare(b)
	if err != nil {
		return nil, err
	}
	ways := []struct {
		name string
		run  func() error
	}{
		{"plain Slurm", array()},
		{"slurm-k8s", array(inPod(os.Getenv("IMAGE_TINY"))...)},
		{"a bare Go client, 16 at a time", func() error { return bare.runMany(many, 16) }},
	}
	lines := make(gauge.Lines, len(ways))
	for range 2 {
		for i, way := range ways {
			seconds, err := gauge.Timed(way.run)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", way.name, err)
			}
			lines[i].Samples = append(lines[i].Samples, many/seconds)
		}
	}
	for i, way := range ways {
		lines[i].What, lines[i].Unit = way.name, "jobs/s"
		if i > 0 {
			lines[i].Against = ways[0].name
		}
	}
	return lines, nil
}

// allEnded waits until an array has left the queue, and wants all its tasks COMPLETED.
func allEnded(id string) error {
	if !testcluster.Until(10*time.Minute, func() bool {
		out, err := testcluster.Run(20*time.Second, "squeue", "-h", "-j", id, "-o", "%A")
		return err == nil && out == ""
	}) {
		return fmt.Errorf("array %s has not ended after 10 min", id)
	}
	records, err := testcluster.Records(id)
	if err != nil {
		return err
	}
	for _, r := range records {
		if r["JobState"] != "COMPLETED" {
			return fmt.Errorf("%s", r)
		}
	}
	return nil
}

// runMany runs jobs of no length, some at a time.
func (c *bareClient) runMany(count, together int) error {
	slots := make(chan struct{}, together)
	errs := make(chan error, count)
	var all sync.WaitGroup
	for range count {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			errs <- c.run(context.Background(), "true")
		})
	}
	all.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
