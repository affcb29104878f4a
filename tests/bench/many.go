// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/gauge"
	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// manyAtOnce is how many jobs of one cpu both Slurm nodes have room for, and so what the bare client does at a time.
const manyAtOnce = 16

// manyJobs compares how fast jobs go: many of no length, Pods that start all at once, and a step of many tasks.
func (b *bench) manyJobs() (lines gauge.Lines, err error) {
	bare, err := newBare(b)
	if err != nil {
		return nil, err
	}
	const plain = "plain Slurm: jobs of no length"
	rate := func(what, against string, run func() error) func() error {
		return func() error {
			seconds, err := gauge.Timed(run)
			if err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			lines.Add(what, "a second", against, float64(b.many)/seconds)
			return nil
		}
	}
	client := fmt.Sprintf("a bare Go client, %d Pods of no length at a time", manyAtOnce)
	if err := gauge.Turns(max(1, b.n/5),
		rate(plain, "", func() error { return b.array() }),
		rate(client, plain, func() error { return bare.runMany(b.many, manyAtOnce) }),
		rate("slurm-k8s: jobs of no length", client, func() error { return b.array(inPod(benchImage())...) }),
	); err != nil {
		return lines, err
	}
	if err := b.startTogether(bare, &lines); err != nil {
		return lines, err
	}
	return lines, b.stepsOfTasks(&lines)
}

// array runs one of jobs of no length, to the end of the last.
func (b *bench) array(args ...string) error {
	log, err := gauge.MarkLog(filepath.Join(b.lab.Dir, "log/slurmctld.log"))
	if err != nil {
		return err
	}
	id, err := b.sbatch(append([]string{fmt.Sprintf("--array=1-%d", b.many), "-o", "/dev/null", "--mem=50M"}, append(args, "--wrap", "true")...)...)
	if err != nil {
		return err
	}
	if _, err := log.AwaitSome(10*time.Minute+time.Duration(b.many)*time.Second, b.many, "JobId="+id+"_", " done"); err != nil {
		return err
	}
	records, err := testcluster.Records(id)
	if err != nil {
		return err
	}
	for _, r := range records {
		if r["JobState"] != "COMPLETED" && r["JobState"] != "COMPLETING" {
			return fmt.Errorf("%s", r)
		}
	}
	return nil
}

// stepsOfTasks are those of srun, on one node, on which tasks share cpus.
func (b *bench) stepsOfTasks(lines *gauge.Lines) error {
	for _, tasks := range []int{1, 8, 128} {
		way := func(name, against string, args ...string) func() error {
			what := func(of string) string { return fmt.Sprintf("%s: srun of %d tasks of no length", of, tasks) }
			return func() error {
				words := append([]string{"-N1", "-O", fmt.Sprint("-n", tasks), "--mem=500M"}, append(args, "true")...)
				seconds, err := gauge.Timed(func() error { _, err := b.as("srun", words...); return err })
				if err != nil {
					return err
				}
				if against != "" {
					against = what(plainWay)
				}
				lines.Add(what(name), "s", against, seconds)
				return nil
			}
		}
		if err := gauge.Turns(max(2, b.n/2), way(plainWay, ""), way("slurm-k8s", plainWay, inPod(benchImage())...)); err != nil {
			return err
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
