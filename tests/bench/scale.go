// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/gauge"
	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// scales are the numbers of nodes beside the two real ones; the first is what the others are compared with.
var scales = []int{10, 1000, 5000}

// realNodes are those of the tests' cluster.
var realNodes = []string{"real1", "real2"}

// scale looks at one job in clusters of more and more nodes.
func (b *bench) scale() (lines gauge.Lines, err error) {
	bare, err := newBare(b)
	if err != nil {
		return nil, err
	}
	nodes, err := newFakeNodes(bare.client)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, nodes.remove(), b.collect(nil)) }()
	for _, count := range scales {
		if err := nodes.upTo(count); err != nil {
			return lines, err
		}
		more, err := b.atScale(bare, count)
		lines = append(lines, more...)
		if err != nil {
			return lines, fmt.Errorf("%d nodes: %w", count, err)
		}
	}
	return lines, nil
}

// atScale measures with so many nodes.
func (b *bench) atScale(bare *bareClient, count int) (gauge.Lines, error) {
	named := func(what, unit string) gauge.Line {
		l := gauge.Line{What: fmt.Sprintf("%s, %d nodes", what, count), Unit: unit}
		if count != scales[0] {
			l.Against = fmt.Sprintf("%s, %d nodes", what, scales[0])
		}
		return l
	}
	collected, peak := named("slurm-k8s gc", "s"), named("slurm-k8s gc: memory", "MB")
	for range 3 {
		seconds, err := gauge.Timed(func() error { return b.collect(&peak.Samples) })
		if err != nil {
			return nil, err
		}
		collected.Samples = append(collected.Samples, seconds)
	}
	fits, full, memory := named("the gate: there is room", "s"), named("the gate: there is none", "s"), named("slurmstepd of a running job", "MB")
	log, err := gauge.MarkAudit(b.lab.Dir)
	if err != nil {
		return nil, err
	}
	for range b.n {
		id, seconds, err := b.verdictOf(bare.client, true)
		if err == nil {
			err = b.ended(id)
		}
		if err != nil {
			return nil, err
		}
		fits.Samples = append(fits.Samples, seconds)
	}
	verbs, err := log.Counted(gauge.ByNode)
	if err != nil {
		return nil, err
	}
	asked := named("requests for one job", "")
	asked.Samples = []float64{gauge.Sum(verbs) / float64(b.n)}
	megabytes, err := b.stepMemory(inPod(benchImage()))
	if err != nil {
		return nil, err
	}
	memory.Samples = []float64{megabytes}
	if full.Samples, err = b.whenFull(bare); err != nil {
		return nil, err
	}
	return gauge.Lines{fits, full, asked, memory, collected, peak}, nil
}

// whenFull is kube-scheduler's time to say no, while the real nodes take nothing.
func (b *bench) whenFull(bare *bareClient) (samples []float64, err error) {
	defer func() {
		_, back := testcluster.Run(time.Minute, "kubectl", append([]string{"uncordon"}, realNodes...)...)
		err = errors.Join(err, back)
	}()
	if _, err := testcluster.Run(time.Minute, "kubectl", append([]string{"cordon"}, realNodes...)...); err != nil {
		return nil, err
	}
	for range b.n {
		id, seconds, err := b.verdictOf(bare.client, false)
		if id != "" {
			if _, err := testcluster.Run(20*time.Second, "scancel", id); err != nil {
				return samples, err
			}
		}
		if err != nil {
			return samples, err
		}
		samples = append(samples, seconds)
	}
	return samples, nil
}

// collect runs the collector once; peak gets the most memory that it used, in MB.
func (b *bench) collect(peak *[]float64) error {
	gc := exec.Command("slurm-k8s", "gc", "--config="+b.lab.Dir+"/etc/k8s.yaml", "--libexec="+b.lab.Dir+"/libexec")
	if out, err := gc.CombinedOutput(); err != nil {
		return fmt.Errorf("slurm-k8s gc: %w: %s", err, out)
	}
	if usage, ok := gc.ProcessState.SysUsage().(*syscall.Rusage); ok && peak != nil {
		*peak = append(*peak, float64(usage.Maxrss)*1024/1e6)
	}
	return nil
}
