// SPDX-License-Identifier: Apache-2.0

// Package onenode looks at one Slurm node while many jobs run on it that do nothing: slurmstepds and relays are real, the
// Pods are a fake kubelet's.
package onenode

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/gauge"
	"github.com/slurm-k8s/slurm-k8s/tests/bench/world"
	"github.com/slurm-k8s/slurm-k8s/tests/fakekubelet"
	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// together are submitted at once, and run before the next are: a thousand starts in the same seconds on two cores come
// upon the 10 s that slurmctld gives slurmd for one.
const together = 50

// row is one run of it.
type row struct {
	*world.World
	count   int
	kubelet *fakekubelet.Kubelet
	lines   gauge.Lines
}

// Measure runs count jobs at once of plain Slurm's, and then as many in Pods.
func Measure(w *world.World, count int) (_ gauge.Lines, err error) {
	r := &row{World: w, count: count}
	changes := w.Changes()
	defer func() { err = errors.Join(err, changes.Back()) }()
	room, noRoom := makeRoom(w, count)
	there, notThere := sendThere(w)
	err = changes.Make(nil, "the size of Slurm's node n1", room, noRoom)
	err = changes.Make(err, "the fake node", r.startKubelet, r.stopKubelet)
	err = changes.Make(err, "placement in k8s.yaml", there, notThere)
	err = changes.Make(err, "jobs of partition "+partition, world.Nothing, func() error { return w.Cancel(10 * time.Minute) })
	if err != nil {
		return nil, err
	}
	for _, way := range []way{
		{name: "plain Slurm", running: r.plainRunning},
		{name: "slurm-k8s", against: "plain Slurm", args: w.InPod(), running: r.podsRunning},
	} {
		if err := r.try(way); err != nil {
			return r.lines, fmt.Errorf("%s: %w", way.name, err)
		}
	}
	return r.lines, nil
}

func (r *row) startKubelet() (err error) {
	r.kubelet, err = fakekubelet.Start(fakekubelet.Config{
		Client: r.Client, Name: "bench-fake-kubelet", PKI: filepath.Join(r.Lab.Dir, "etc/pki"),
		Log: func(text string) { fmt.Fprintln(os.Stderr, "bench: fake kubelet:", text) },
	})
	return err
}

func (r *row) stopKubelet() error {
	if r.kubelet == nil {
		return nil
	}
	return r.kubelet.Stop()
}

// way is one that a job may go.
type way struct {
	name, against string
	args          []string
	running       func(jobs []string) int // how many of the jobs have a task that runs
}

// plainRunning counts tasks of the Slurm node.
func (r *row) plainRunning(jobs []string) int {
	_, tasks := world.Steps(jobs)
	return len(tasks)
}

// podsRunning counts tasks of the fake node.
func (r *row) podsRunning([]string) int { return r.kubelet.Tasks() }

// try starts the jobs of one way, looks at them, and ends them.
func (r *row) try(way way) error {
	server, err := gauge.Daemon(r.Lab.Dir, "kube-apiserver")
	if err != nil {
		return err
	}
	live, err := r.LiveInServer()
	if err != nil {
		return err
	}
	before := gauge.MemoryOf(server)
	seconds, err := gauge.Timed(func() error { return r.start(way) })
	if err != nil {
		return err
	}
	r.add(way, "jobs started per second", "", float64(r.count)/seconds)
	if err := r.look(way); err != nil {
		return err
	}
	if way.against != "" {
		after := gauge.MemoryOf(server)
		now, err := r.LiveInServer()
		if err != nil {
			return err
		}
		r.add(way, "kube-apiserver: anonymous memory more, per running job", "KB", (after.Anonymous-before.Anonymous)*1000/float64(r.count))
		r.add(way, "kube-apiserver: live objects more, per running job", "KB", (now-live)*1000/float64(r.count))
	}
	seconds, err = gauge.Timed(func() error { return r.Cancel(10 * time.Minute) })
	if err != nil {
		return err
	}
	r.add(way, "jobs ended per second by one scancel", "", float64(r.count)/seconds)
	return nil
}

// start submits the jobs and waits until all of them run.
func (r *row) start(way way) error {
	for submitted := 0; submitted < r.count; {
		some := min(together, r.count-submitted)
		args := []string{fmt.Sprintf("--array=1-%d", some), "--partition=" + partition, fmt.Sprintf("--mem=%dM", megabytes), "--output=/dev/null"}
		if _, err := r.Sbatch(append(append(args, way.args...), "--wrap", "exec sleep 86400")...); err != nil {
			return err
		}
		submitted += some
		running := 0
		if !testcluster.Until(3*time.Minute, func() bool {
			jobs, err := r.Queued("R", "-p", partition)
			if err != nil {
				return false
			}
			running = min(len(jobs), way.running(jobs))
			return running >= submitted
		}) {
			return fmt.Errorf("%d of %d jobs run 3 min after they were submitted", running, submitted)
		}
	}
	return nil
}

// look measures what runs, over a time in which nothing is asked of it.
func (r *row) look(way way) error {
	jobs, err := r.Queued("R", "-p", partition)
	if err != nil {
		return err
	}
	steps, tasks := world.Steps(jobs)
	if len(steps) != r.count || len(tasks) < r.count {
		return fmt.Errorf("%d slurmstepds and %d tasks of %d jobs", len(steps), len(tasks), r.count)
	}
	daemons := map[string]int{}
	for _, name := range []string{"slurmd-n1", "slurmctld", "kube-apiserver"} {
		if daemons[name], err = gauge.Daemon(r.Lab.Dir, name); err != nil {
			return err
		}
	}
	used := func(pids ...int) func() float64 {
		from := gauge.CPU(pids...)
		return func() float64 { return gauge.CPU(pids...) - from }
	}
	ofSteps, ofTasks, ofServer, ofAll := used(steps...), used(tasks...), used(daemons["kube-apiserver"]), gauge.Busy()
	length := min(time.Minute, max(10*time.Second, time.Duration(r.count)*100*time.Millisecond))
	seconds, _ := gauge.Timed(func() error { time.Sleep(length); return nil })
	perMinute := 60 / seconds
	r.add(way, "CPU of the slurmstepds in sum, per minute", "s", ofSteps()*perMinute)
	r.add(way, "CPU of the tasks or relays in sum, per minute", "s", ofTasks()*perMinute)
	r.add(way, "CPU of kube-apiserver, per minute", "s", ofServer()*perMinute)
	r.add(way, "CPU of the machine, idle included, per minute", "s", (gauge.Busy()-ofAll)*perMinute)
	n := float64(r.count)
	ofStep, ofTask := gauge.MemoryOf(steps...), gauge.MemoryOf(tasks...)
	r.add(way, "slurmstepd: anonymous memory per job", "MB", ofStep.Anonymous/n)
	r.add(way, "task or relay: anonymous memory per job", "MB", ofTask.Anonymous/n)
	r.add(way, "memory of the Slurm node in sum, with shares of what is shared", "MB", ofStep.Share+ofTask.Share)
	threads := 0
	for _, pid := range append(steps, tasks...) {
		more, err := gauge.Threads(pid)
		if err != nil {
			return err
		}
		threads += more
	}
	r.add(way, "threads on the Slurm node per job", "", float64(threads)/n)
	return nil
}

func (r *row) add(way way, what, unit string, sample float64) {
	against := ""
	if way.against != "" {
		against = way.against + ": " + what
	}
	r.lines.Add(way.name+": "+what, unit, against, sample)
}
