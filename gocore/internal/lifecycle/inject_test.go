// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/stream"
)

// Kinds of failure of a call to Kubernetes, each as its client tells it.
var apiFaults = map[string]fault{
	"refused connection": {err: errors.New("dial tcp 10.0.0.1:6443: connect: connection refused")},
	"internal error":     {err: apierrors.NewInternalError(errors.New("etcdserver: leader changed"))},
	"too many requests":  {err: apierrors.NewTooManyRequests("slow down", 1)},
	"timeout":            {err: context.DeadlineExceeded, took: 15 * time.Second},
	"lost answer":        {err: context.DeadlineExceeded, took: 15 * time.Second, done: true},
	"late answer":        {took: 14 * time.Second},
	"unauthorized":       {err: apierrors.NewUnauthorized("Unauthorized")},
	"forbidden":          {err: apierrors.NewForbidden(podResource, testPod, errors.New("violates PodSecurity \"restricted:latest\""))},
	"quota":              {err: apierrors.NewForbidden(podResource, testPod, errors.New(quotas))},
	"conflict":           {err: apierrors.NewConflict(podResource, testPod, errors.New("the object has been modified"))},
	"already exists":     {err: apierrors.NewAlreadyExists(podResource, testPod)},
	"not found":          {err: apierrors.NewNotFound(podResource, testPod)},
	"panic":              {panics: true},
	"always down":        {err: errors.New("dial tcp 10.0.0.1:6443: i/o timeout"), took: 3 * time.Second, always: true},
}

// Kinds of failure of a call to slurmctld.
var slurmFaults = map[string]fault{
	"down":        {err: errSlurmDown, took: 10 * time.Second},
	"lost answer": {err: errSlurmDown, took: 10 * time.Second, done: true},
	"final":       {err: errSlurmFinal},
	"slow":        {took: 40 * time.Second},
	"panic":       {panics: true},
	"always down": {err: errSlurmDown, took: 10 * time.Second, always: true},
}

// Kinds of failure of the stream.
var streamFaults = map[string]fault{
	"error":            {err: errors.New("the peer broke the protocol")},
	"error after it":   {err: errors.New("the peer broke the protocol"), done: true},
	"slow":             {took: 20 * time.Second},
	"hangs":            {err: errors.New("never"), took: 24 * time.Hour},
	"done, then hangs": {err: errors.New("never"), took: 24 * time.Hour, done: true},
	"panic":            {panics: true},
}

// without leaves kinds out that a call cannot fail with.
func without(faults map[string]fault, kinds ...string) map[string]fault {
	kept := maps.Clone(faults)
	for _, kind := range kinds {
		delete(kept, kind)
	}
	return kept
}

type port struct {
	name   string
	faults map[string]fault
}

// ports are the calls, each with its kinds of failure.
var ports = []port{
	{"Facts", slurmFaults}, {"Requeue", slurmFaults}, {"Update", slurmFaults}, {"CompleteOutOfMemory", slurmFaults},
	{"EnsurePodinit", apiFaults}, {"CreatePod", apiFaults}, {"GetPod", without(apiFaults, "not found")}, {"DeletePod", without(apiFaults, "not found", "conflict")},
	{"Follow", apiFaults}, {"Events", apiFaults}, {"Shapes", apiFaults}, {"Pump", apiFaults},
	{"Run", streamFaults}, {"Connected", streamFaults}, {"Start", streamFaults}, {"Exits", streamFaults}, {"Detach", streamFaults},
}

// clusterPorts are those of a cluster.
func clusterPorts() (all []port) {
	for _, p := range ports {
		if p.faults["quota"].err != nil {
			all = append(all, p)
		}
	}
	return all
}

// lives are the ways a life goes when nothing fails.
var lives = map[string]func(w *world){
	"good":          func(*world) {},
	"predecessor":   func(w *world) { w.predecessor() },
	"out of memory": func(w *world) { w.tasks.exit = stream.Exit{Status: 9, OOMKills: 1} },
	"full": func(w *world) {
		w.cluster.script = func(int) []event { return []event{{time.Millisecond, unschedulable(full)}} }
	},
	"full, --no-requeue": func(w *world) {
		w.slurm.noRequeue()
		w.cluster.script = func(int) []event { return []event{{time.Millisecond, unschedulable(full)}} }
	},
	"never fits, it seems": func(w *world) {
		w.cluster.script = func(int) []event { return []event{{time.Millisecond, unschedulable(never)}} }
	},
	"bad image": func(w *world) {
		w.cluster.script = func(int) []event {
			return []event{{time.Millisecond, scheduled}, {time.Second, waits("ErrImagePull", "manifest unknown")}}
		}
	},
	"hanging pull": func(w *world) {
		w.cluster.script = func(int) []event { return []event{{time.Millisecond, scheduled}} }
	},
	"rejected by the node": func(w *world) {
		w.cluster.script = func(n int) []event {
			if n == 1 {
				return []event{{time.Millisecond, scheduled}, {time.Second, rejected("OutOfcpu")}}
			}
			return starts(time.Second)
		}
	},
	"evicted": func(w *world) {
		w.tasks.take = time.Minute
		w.cluster.script = func(int) []event {
			return append(starts(time.Second), event{10 * time.Second, disruption("EvictionByEvictionAPI")}, event{time.Millisecond, deleted})
		}
	},
	"lost node": func(w *world) {
		w.tasks.take, w.cluster.stuck = time.Hour, true
		w.cluster.script = func(int) []event {
			return append(starts(time.Second), event{10 * time.Second, disruption("DeletionByTaintManager")}, event{time.Millisecond, deleted},
				event{5 * time.Minute, disruption("DeletionByPodGC")}, event{time.Millisecond, goes})
		}
	},
	"deleted by somebody": func(w *world) {
		w.tasks.take = time.Minute
		w.cluster.script = func(int) []event { return append(starts(time.Second), event{10 * time.Second, deleted}) }
	},
}

// interruptions are what comes from Slurm's side.
var interruptions = map[string]func(w *world){
	"scancel":          func(w *world) { w.cancel("CANCELLED") },
	"scontrol requeue": func(w *world) { w.cancel("PENDING") },
	"warning signal":   func(w *world) { w.term() },
	"kill":             func(w *world) { w.kill() },
	"finish":           func(w *world) { go w.step.Finish(context.Background()) },
}

// inBubble lives a life and says what was wrong.
func inBubble(t *testing.T, set func(w *world)) (trouble string) {
	synctest.Test(t, func(*testing.T) {
		w := newWorld()
		w.site.OrphanTimeout.Duration = 10 * time.Minute
		set(w)
		w.live()
		trouble = w.trouble()
	})
	return trouble
}

// TestEveryFailureAtEveryStep: no call may fail in a way that breaks a rule, in whatever
// life, once or for good.
func TestEveryFailureAtEveryStep(t *testing.T) {
	for _, port := range ports {
		t.Run(port.name, func(t *testing.T) {
			t.Parallel()
			for kind, f := range port.faults {
				for life, set := range lives {
					for _, times := range []int{1, 3} {
						if times > 1 && (f.always || f.panics) {
							continue
						}
						trouble := inBubble(t, func(w *world) {
							set(w)
							w.expectPanic(f)
							for range times {
								w.fail(port.name, f)
							}
						})
						if trouble != "" {
							t.Errorf("%s of %s (%d times) in the life %q: %s", kind, port.name, times, life, trouble)
						}
					}
				}
			}
		})
	}
}

// TestEveryInterruptionAtEveryStep: whenever Slurm ends the step, whatever it is doing.
func TestEveryInterruptionAtEveryStep(t *testing.T) {
	for life, set := range lives {
		t.Run(life, func(t *testing.T) {
			t.Parallel()
			for name, interrupt := range interruptions {
				for _, port := range append(ports, ports[0]) {
					trouble := inBubble(t, func(w *world) { set(w); w.at(port.name, func() { interrupt(w) }) })
					if trouble != "" {
						t.Errorf("%s at %s in the life %q: %s", name, port.name, life, trouble)
					}
				}
				for _, at := range []time.Duration{time.Microsecond, 15 * time.Millisecond, 500 * time.Millisecond, 2 * time.Second, 3020 * time.Millisecond,
					12 * time.Second, 35 * time.Second, 6 * time.Minute} {
					trouble := inBubble(t, func(w *world) { set(w); w.after(at, func() { interrupt(w) }) })
					if trouble != "" {
						t.Errorf("%s after %s in the life %q: %s", name, at, life, trouble)
					}
				}
			}
		})
	}
}

// TestFailureAndInterruption: both at once.
func TestFailureAndInterruption(t *testing.T) {
	for _, port := range ports {
		t.Run(port.name, func(t *testing.T) {
			t.Parallel()
			for kind, f := range port.faults {
				for name, interrupt := range interruptions {
					for _, life := range []string{"good", "predecessor", "full, --no-requeue", "evicted"} {
						trouble := inBubble(t, func(w *world) {
							lives[life](w)
							w.expectPanic(f)
							w.fail(port.name, f)
							w.at(port.name, func() { interrupt(w) })
						})
						if trouble != "" {
							t.Errorf("%s with %s of %s in the life %q: %s", name, kind, port.name, life, trouble)
						}
					}
				}
			}
		})
	}
}

func (w *world) expectPanic(f fault) {
	if f.panics {
		w.calls = append(w.calls, "a panic is expected")
	}
}
