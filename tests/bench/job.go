// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// byKubectl is a job as a site would write it with kubectl and jq.
//
//go:embed kubectl.sh
var byKubectl []byte

// oneJob compares a job of 2 s by four ways.
func (b *bench) oneJob() ([]line, error) {
	script := filepath.Join(b.work, "kubectl.sh")
	config, err := os.ReadFile(os.Getenv("KUBECONFIG"))
	if err != nil {
		return nil, err
	}
	mine := filepath.Join(b.work, "kubeconfig")
	if err := firstError(os.WriteFile(script, byKubectl, 0o755), os.WriteFile(mine, config, 0o600), chownToUser(mine)); err != nil {
		return nil, err
	}
	bare, err := newBare(b.lab)
	if err != nil {
		return nil, err
	}
	image := os.Getenv("IMAGE_TINY")
	submitted := func(args ...string) func() error {
		return func() error {
			id, err := b.sbatch(args...)
			if err != nil {
				return err
			}
			return b.ended(id)
		}
	}
	ways := []struct {
		name string
		run  func() error
	}{
		{"plain Slurm", submitted("--wrap", "sleep 2")},
		{"slurm-k8s", submitted(append(inPod(image), "--wrap", "sleep 2")...)},
		{"a bare Go client, without Slurm", func() error { return bare.run(context.Background(), "sleep 2") }},
		{"kubectl and jq in a batch script", submitted("--export=ALL,KUBECONFIG="+mine+",IMAGE="+image, script)},
	}
	walls, cpus := make([]line, len(ways)), make([]line, len(ways))
	idle := idleRate()
	for range b.n {
		for i, way := range ways { // in turns, so that all see the same machine
			before := busy()
			seconds, err := timed(way.run)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", way.name, err)
			}
			walls[i].samples = append(walls[i].samples, seconds-2)
			cpus[i].samples = append(cpus[i].samples, busy()-before-idle*seconds)
		}
	}
	for i, way := range ways {
		walls[i].what, walls[i].unit, walls[i].against = way.name+": time beyond 2 s", "s", ways[0].name+": time beyond 2 s"
		cpus[i].what, cpus[i].unit, cpus[i].against = way.name+": CPU of the machine", "s", ways[0].name+": CPU of the machine"
	}
	walls[0].against, cpus[0].against = "", ""
	return append(walls, cpus...), nil
}

// idleRate is the CPU that the machine uses when nothing is asked of it, in seconds per second.
func idleRate() float64 {
	const look = 5 * time.Second
	before := busy()
	time.Sleep(look)
	return (busy() - before) / look.Seconds()
}

const many = 100

// manyJobs compares how fast jobs of no length go.
func (b *bench) manyJobs() ([]line, error) {
	array := func(args ...string) func() error {
		return func() error {
			id, err := b.sbatch(append([]string{fmt.Sprintf("--array=1-%d", many), "-o", "/dev/null", "--mem=50M"}, append(args, "--wrap", "true")...)...)
			if err != nil {
				return err
			}
			return allEnded(id)
		}
	}
	bare, err := newBare(b.lab)
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
	lines := make([]line, len(ways))
	for range 2 {
		for i, way := range ways {
			seconds, err := timed(way.run)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", way.name, err)
			}
			lines[i].samples = append(lines[i].samples, many/seconds)
		}
	}
	for i, way := range ways {
		lines[i].what, lines[i].unit = way.name, "jobs/s"
		if i > 0 {
			lines[i].against = ways[0].name
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
