// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/gauge"
)

// way is one way to have a job of 2 s done.
type way struct {
	name    string
	run     func(way, *gauge.Lines) (float64, error) // to its end, in seconds from the submission on
	with    func(func() error) error                 // what the cluster needs for it; nil: nothing
	belongs func(command string) bool                // its processes beside slurmstepd; nil: none
}

// turn is how long each way has for its job and all that comes behind it, Kubernetes' own cleaning included: of so long
// is the CPU. It is made longer for nobody, so that idle time weighs the same in all.
const turn = 10 * time.Second

const (
	plainWay = "plain Slurm"
	bareWay  = "a bare Go client, without Slurm"
	// kubectlName is what the others are compared with.
	kubectlName = "kubectl and jq in Prolog, job and Epilog"
)

// oneJob compares a job of 2 s by four ways.
func (b *bench) oneJob() (lines gauge.Lines, err error) {
	ways, err := b.ways()
	if err != nil {
		return nil, err
	}
	const beyond, cpu = ": time beyond the 2 s", ": CPU of the machine, less than idle's"
	for range b.n {
		idle := gauge.Rate(turn / 2)
		walls, cpus := map[string]float64{}, map[string]float64{}
		for _, w := range ways { // in turns, so that all see the same machine
			err := w.prepared(func() error {
				before, begun := gauge.Busy(), time.Now()
				seconds, err := w.run(w, &lines)
				if err != nil {
					return err
				}
				gauge.Rate(time.Until(begun.Add(turn)))
				walls[w.name], cpus[w.name] = seconds-2, gauge.Busy()-before-idle*time.Since(begun).Seconds()
				return nil
			})
			if err != nil {
				return lines, fmt.Errorf("%s: %w", w.name, err)
			}
		}
		for _, w := range ways {
			against := kubectlName
			if w.name == kubectlName {
				against = ""
			}
			lines.Add(w.name+beyond, "s", against+beyond, walls[w.name])
			lines.Add(w.name+cpu, "s", against+cpu, cpus[w.name])
			if w.name != plainWay {
				lines.Add(w.name+": time more than plain Slurm's", "s", against+": time more than plain Slurm's", walls[w.name]-walls[plainWay])
				lines.Add(w.name+": CPU more than plain Slurm's", "s", against+": CPU more than plain Slurm's", cpus[w.name]-cpus[plainWay])
			}
		}
	}
	return lines, b.jobMemory(ways, &lines)
}

func (w way) prepared(do func() error) error {
	if w.with == nil {
		return do()
	}
	return w.with(do)
}

// ways are the four.
func (b *bench) ways() ([]way, error) {
	bare, err := newBare(b)
	if err != nil {
		return nil, err
	}
	kubectl, err := b.kubectlWay()
	if err != nil {
		return nil, err
	}
	return []way{
		{name: plainWay, run: b.slurmWay("--wrap", "sleep 2")},
		{name: "slurm-k8s", run: b.ourWay, belongs: func(command string) bool { return strings.HasPrefix(command, b.lab.Dir+"/libexec/relay") }},
		{name: bareWay, run: func(way, *gauge.Lines) (float64, error) {
			return gauge.Timed(func() error { return bare.run(context.Background(), "sleep 2") })
		}, belongs: isAlone},
		*kubectl,
	}, nil
}

// slurmWay is a batch job's.
func (b *bench) slurmWay(args ...string) func(way, *gauge.Lines) (float64, error) {
	return func(w way, lines *gauge.Lines) (float64, error) {
		r, err := b.run(args...)
		if err != nil {
			return 0, err
		}
		lines.Add(w.name+": from slurmstepd's start to the job's end, beyond the 2 s", "s", "", r.ended.Sub(r.stepd).Seconds()-2)
		return r.ended.Sub(r.begun).Seconds(), nil
	}
}

// stagesOfOurs are those that a job of ours goes through, in their order.
var stagesOfOurs = []string{"created", "scheduled", "running", "connected", "start-sent", "first-byte", "end-known", "relay-gone", "pod-gone"}

// ourWay adds the stages.
func (b *bench) ourWay(w way, lines *gauge.Lines) (float64, error) {
	r, err := b.run(append(inPod(benchImage()), "--wrap", "echo a word; sleep 2")...)
	if err != nil {
		return 0, err
	}
	lines.Add(w.name+": from slurmstepd's start to the job's end, beyond the 2 s", "s", bareWay+": time beyond the 2 s", r.ended.Sub(r.stepd).Seconds()-2)
	stages, err := r.stages("pod-gone")
	for _, stage := range stagesOfOurs {
		if at, reached := stages[stage]; reached {
			lines.Add(w.name+", since its core began: "+stage, "s", "", at)
		}
	}
	return r.ended.Sub(r.begun).Seconds(), err
}
