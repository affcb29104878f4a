// SPDX-License-Identifier: Apache-2.0

// Package world is what a row of the bench that is a package of its own gets from the bench.
package world

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/gauge"
	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// RealNodes are Kubernetes' nodes in the tests' cluster.
var RealNodes = []string{"real1", "real2"}

// World is the cluster, and the bench's hold on it.
type World struct {
	Lab    *testcluster.Cluster
	Work   string         // a folder of the user's, in which all jobs are submitted
	User   string         // whose jobs are measured
	Image  string         // a small one that is on the nodes
	N      int            // repetitions of what takes seconds
	Client rest.Interface // of Kubernetes' core/v1, as an administrator
	// Sbatch submits as the user, with 100 MB and the output in %j.out, and gives the job's id.
	Sbatch func(args ...string) (string, error)
	// Change changes the cluster; back takes it back, once, and so does the bench's own end or interruption.
	Change func(what string, do, undo func() error) (back func() error, err error)
}

// InPod are the options that put a job into a Pod.
func (w *World) InPod() []string { return []string{"--k8s-image=" + w.Image, "--k8s-workdir=/tmp"} }

// Script runs one of tests/cluster.
func (w *World) Script(limit time.Duration, name string, args ...string) error {
	_, err := testcluster.Run(limit, filepath.Join(w.Lab.Scripts, name), args...)
	return err
}

// Collect runs the collector, which publishes the nodes.
func (w *World) Collect() error {
	_, err := testcluster.Run(time.Minute, "slurm-k8s", "gc", "--config="+w.Lab.Dir+"/etc/k8s.yaml", "--libexec="+w.Lab.Dir+"/libexec")
	return err
}

// NotEnded are squeue's states of jobs that are not over; its "all" has those that ended lately too.
const NotEnded = "PD,CF,R,S,ST,CG,SE,RQ,RH,RS,SI,SO"

// Queued are the ids of the bench's jobs in these states, as squeue names them ("R", "PD,R"), with more of squeue's
// options. An array's tasks each have one.
func (w *World) Queued(states string, more ...string) ([]string, error) {
	out, err := testcluster.Run(30*time.Second, "squeue", append([]string{"-h", "-a", "-r", "-u", w.User, "-t", states, "-o", "%A %Z"}, more...)...)
	ids := []string{}
	for line := range strings.Lines(out) {
		if id, folder, _ := strings.Cut(strings.TrimSpace(line), " "); folder == w.Work {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// Cancel ends the bench's jobs and waits until none is left.
func (w *World) Cancel(limit time.Duration) error {
	left, err := w.Queued(NotEnded)
	if err != nil || len(left) == 0 {
		return err
	}
	if _, err := testcluster.Run(2*time.Minute, "scancel", left...); err != nil {
		return err
	}
	if !testcluster.Until(limit, func() bool {
		left, err = w.Queued(NotEnded)
		return err == nil && len(left) == 0
	}) {
		return fmt.Errorf("%d cancelled jobs have not ended after %s", len(left), limit)
	}
	return nil
}

// Steps are the slurmstepds of jobs, and all processes below them.
func Steps(jobs []string) (steps, below []int) {
	wanted := map[string]bool{}
	for _, id := range jobs {
		wanted[id] = true
	}
	steps = gauge.Pids(func(command string) bool {
		name, is := strings.CutPrefix(command, "slurmstepd: [")
		id, _, _ := strings.Cut(name, ".")
		return is && wanted[id]
	})
	return steps, gauge.Tree(steps...)[len(steps):]
}
