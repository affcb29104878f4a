// SPDX-License-Identifier: Apache-2.0

// Package scale looks at one job, and at the collector, in clusters of more and more nodes.
package scale

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/gauge"
	"github.com/slurm-k8s/slurm-k8s/tests/bench/world"
	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

type row struct {
	*world.World
	first int // number of nodes, which the others are compared with
	lines gauge.Lines
}

// Measure looks with so many nodes beside the real ones, one number after the other.
func Measure(w *world.World, counts []int) (_ gauge.Lines, err error) {
	if !slices.IsSorted(counts) {
		return nil, fmt.Errorf("numbers of nodes must rise: %d", counts)
	}
	r := &row{World: w}
	nodes := &fakeNodes{world: w}
	changes := w.Changes()
	defer func() { err = errors.Join(err, changes.Back()) }()
	err = changes.Make(nil, "fake nodes, with kube-controller-manager away", nodes.begin, nodes.remove)
	err = changes.Make(err, "jobs", world.Nothing, func() error { return w.Cancel(time.Minute) })
	if err != nil {
		return nil, err
	}
	for _, count := range counts {
		if r.first == 0 {
			r.first = count
		}
		if err := nodes.upTo(count); err != nil {
			return r.lines, err
		}
		for _, look := range []func(int) error{r.collector, r.fitting, r.running, r.whenFull} {
			if err := look(count); err != nil {
				return r.lines, fmt.Errorf("%d nodes: %w", count, err)
			}
		}
	}
	return r.lines, nil
}

func (r *row) add(what, unit string, count int, sample float64) {
	named := func(count int) string { return fmt.Sprintf("%s, %d nodes", what, count) }
	against := ""
	if count != r.first {
		against = named(r.first)
	}
	r.lines.Add(named(count), unit, against, sample)
}

// collector runs it alone.
func (r *row) collector(count int) error {
	for range max(3, r.N/2) {
		peak := 0.0
		seconds, err := gauge.Timed(func() (err error) {
			peak, err = gauge.PeakOf(exec.Command("slurm-k8s", "gc", "--config="+r.Lab.Dir+"/etc/k8s.yaml", "--libexec="+r.Lab.Dir+"/libexec"))
			return err
		})
		if err != nil {
			return err
		}
		r.add("slurm-k8s gc", "s", count, seconds)
		r.add("slurm-k8s gc: memory, files included", "MB", count, peak)
	}
	return nil
}

// fitting runs jobs for which there is room, and counts what they alone ask.
func (r *row) fitting(count int) error {
	if err := r.NoPods(); err != nil {
		return err
	}
	audit, err := gauge.MarkAudit(r.Lab.Dir)
	if err != nil {
		return err
	}
	ours := map[string]bool{}
	for range r.N {
		id, seconds, err := r.verdictOf(true)
		if err == nil {
			err = r.Ended(id, time.Minute)
		}
		if err != nil {
			return err
		}
		ours[id] = true
		r.add("the gate: there is room", "s", count, seconds)
	}
	if err := r.NoPods(); err != nil {
		return err
	}
	asked, err := audit.Counted(func(q gauge.Request) bool {
		pod := jobOf(q)
		return gauge.ByNode(q) && (pod == "" || ours[pod])
	})
	if err != nil {
		return err
	}
	r.add("requests for one job", "", count, gauge.Sum(asked)/float64(r.N))
	return nil
}

// jobOf is the job whose Pod a request names; "": none, as where podinit's ConfigMap is asked for.
func jobOf(q gauge.Request) string {
	_, name, _ := strings.Cut(q.Object.Name+" "+q.URI, "slurm-job-")
	return name[:len(name)-len(strings.TrimLeft(name, "0123456789"))]
}

// running looks at slurmstepd while its job runs.
func (r *row) running(count int) error {
	id, err := r.Sbatch(append(r.InPod(), "--wrap", "echo ready; exec sleep 600")...)
	if err != nil {
		return err
	}
	path := filepath.Join(r.Work, id+".out")
	if !testcluster.Until(time.Minute, func() bool {
		text, _ := os.ReadFile(path)
		return strings.Contains(string(text), "ready")
	}) {
		return fmt.Errorf("job %s does not run after a minute", id)
	}
	steps, _ := world.Steps([]string{id})
	if len(steps) != 1 {
		return fmt.Errorf("job %s has %d slurmstepds", id, len(steps))
	}
	r.add("slurmstepd of a running job: anonymous memory", "MB", count, gauge.MemoryOf(steps...).Anonymous)
	return r.Cancel(time.Minute)
}

// whenFull is kube-scheduler's time to say no, while the real nodes take nothing.
func (r *row) whenFull(count int) (err error) {
	cordon := func(verb string) func() error {
		return func() error {
			_, err := testcluster.Run(time.Minute, "kubectl", append([]string{verb}, world.RealNodes...)...)
			return err
		}
	}
	back, err := r.Change("cordon of the real nodes", cordon("cordon"), cordon("uncordon"))
	defer func() { err = errors.Join(err, back()) }()
	if err != nil {
		return err
	}
	for range r.N {
		_, seconds, err := r.verdictOf(false)
		if err != nil {
			return err
		}
		r.add("the gate: there is none", "s", count, seconds)
		if err := r.Cancel(time.Minute); err != nil {
			return err
		}
	}
	return nil
}
