// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/stream"
)

// changes are what may become of a Pod, by the scheduler, the node, or somebody.
var changes = map[string]func(*pod){
	"full":        unschedulable(full),
	"never":       unschedulable(never),
	"nominated":   nominated,
	"scheduled":   scheduled,
	"pulls":       waits("ContainerCreating", ""),
	"network":     waits("ErrImagePull", "dial tcp: i/o timeout"),
	"bad image":   waits("ErrImagePull", "manifest unknown"),
	"runs":        runs,
	"completes":   ends(0, "Completed", ""),
	"killed":      ends(137, "OOMKilled", ""),
	"unknown":     ends(137, "ContainerStatusUnknown", ""),
	"rejected":    rejected("OutOfcpu"),
	"evicted":     disruption("EvictionByEvictionAPI"),
	"by podgc":    disruption("DeletionByPodGC"),
	"deleted":     deleted,
	"gone":        goes,
	"never start": ends(1, "Error", "never started\n"),
}

// TestAnyLife: random events in any order, random failures of any call, and whatever
// Slurm does in between. The models hold the rules; see world.check.
func TestAnyLife(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		set := anyLife(r) // drawn outside of the bubble, which a shrinking draw would break
		if trouble := inBubble(t, set); trouble != "" {
			r.Fatal(trouble)
		}
	})
}

// TestAnyLifeAmongClusters is the same of a job that may go to a second cluster, which is as bad.
func TestAnyLifeAmongClusters(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		set := anyLife(r)
		pause := rapid.SampledFrom([]time.Duration{0, time.Millisecond, time.Second, 6 * time.Second, time.Minute})
		scripts := [][]event{anyScript(r, pause), anyScript(r, pause)}
		full, stuck := rapid.Bool().Draw(r, "first is full"), rapid.Bool().Draw(r, "second's node lost")
		var failing []func(w *world)
		for range rapid.IntRange(0, 3).Draw(r, "failing there") {
			port := rapid.SampledFrom(clusterPorts()).Draw(r, "port there")
			kind := rapid.SampledFrom(slices.Sorted(maps.Keys(without(port.faults, "panic")))).Draw(r, "kind there")
			failing = append(failing, func(w *world) { w.fail(second+" "+port.name, port.faults[kind]) })
		}
		if trouble := inBubble(t, func(w *world) {
			set(w)
			w.twoClusters(site.ClusterAuto)
			if w.slurm.restarts > 0 { // what has started says where
				w.slurm.comment = `{"slurm-k8s":1,"cluster":"a"}`
			}
			if full {
				w.cluster.noRoom()
			}
			w.other.stuck = stuck
			w.other.script = func(n int) []event { return scripts[n%len(scripts)] }
			for _, fail := range failing {
				fail(w)
			}
		}); trouble != "" {
			r.Fatal(trouble)
		}
	})
}

func anyLife(r *rapid.T) func(w *world) {
	pause := rapid.SampledFrom([]time.Duration{0, time.Millisecond, 30 * time.Millisecond, time.Second, 6 * time.Second, time.Minute, 20 * time.Minute})
	var sets []func(w *world)
	add := func(set func(w *world)) { sets = append(sets, set) }
	before, noRequeue, stuck := rapid.Bool().Draw(r, "predecessor"), rapid.Bool().Draw(r, "no requeue"), rapid.Bool().Draw(r, "node lost")
	does := tasks{
		take: pause.Draw(r, "task"), traps: rapid.Bool().Draw(r, "traps"), mute: rapid.Bool().Draw(r, "mute"),
		exit: stream.Exit{Status: rapid.SampledFrom([]uint32{0, 7 << 8, 9, 15}).Draw(r, "status"), OOMKills: rapid.SampledFrom([]uint32{0, 0, 1}).Draw(r, "kills")},
	}
	scripts := [][]event{anyScript(r, pause), anyScript(r, pause), anyScript(r, pause)}
	add(func(w *world) {
		if before {
			w.predecessor()
		}
		if noRequeue {
			w.slurm.noRequeue()
		}
		w.cluster.stuck, w.tasks = stuck, does
		w.cluster.script = func(n int) []event { return scripts[n%len(scripts)] }
	})
	for range rapid.IntRange(0, 4).Draw(r, "failing") {
		port := rapid.SampledFrom(ports).Draw(r, "port")
		kind := rapid.SampledFrom(slices.Sorted(maps.Keys(without(port.faults, "panic")))).Draw(r, "kind")
		good := make([]fault, rapid.IntRange(0, 2).Draw(r, "before"))
		add(func(w *world) { w.fail(port.name, append(good, port.faults[kind])...) })
	}
	for range rapid.IntRange(0, 2).Draw(r, "interruptions") {
		interrupt := interruptions[rapid.SampledFrom(slices.Sorted(maps.Keys(interruptions))).Draw(r, "interruption")]
		if rapid.Bool().Draw(r, "at a call") {
			call := rapid.SampledFrom(ports).Draw(r, "call").name
			add(func(w *world) { w.at(call, func() { interrupt(w) }) })
		} else {
			after := pause.Draw(r, "after")
			add(func(w *world) { w.after(after, func() { interrupt(w) }) })
		}
	}
	return func(w *world) {
		for _, set := range sets {
			set(w)
		}
	}
}

func anyScript(r *rapid.T, pause *rapid.Generator[time.Duration]) []event {
	var script []event
	if rapid.Bool().Draw(r, "starts") {
		script = starts(pause.Draw(r, "pull"))
	}
	for _, name := range rapid.SliceOfN(rapid.SampledFrom(slices.Sorted(maps.Keys(changes))), 0, 4).Draw(r, "script") {
		script = append(script, event{pause.Draw(r, "then"), changes[name]})
	}
	return script
}
