// SPDX-License-Identifier: Apache-2.0

package full

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/world"
	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// way is plain Slurm or ours: what their jobs are submitted with, and what fills their cluster but for some cpus on one
// node. Slurm's is full of Slurm's jobs, Kubernetes' of other people's Pods while Slurm itself has room.
type way struct {
	name, against string
	args          []string
	fill          func(ctx context.Context, room int) (filling, error)
}

// options of a job that sleeps: what the plugin says goes to --error, and its time is known to Slurm's backfill.
func options(sleeps time.Duration) []string {
	return []string{"--error=/dev/null", fmt.Sprintf("--time=%d", int((sleeps + time.Minute).Minutes()))}
}

func (w way) job(sleeps time.Duration, more ...string) []string {
	return append(append(append(options(sleeps), w.args...), more...), "--wrap", sleeper(sleeps))
}

const long = 24 * time.Hour

// filling is what keeps a cluster full.
type filling interface {
	makeRoom(ctx context.Context) error // for one cpu more; returns when it is there
	empty() error
}

// slurmCPUs are those of one of Slurm's two nodes, which are alike.
func slurmCPUs() (int, error) {
	out, err := testcluster.Run(20*time.Second, "sinfo", "-h", "-n", "n1", "-p", "main", "-o", "%c")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(out))
}

// podCPUs are those that one of Kubernetes' nodes gives to Pods.
func podCPUs(r *row, node string) (int, error) {
	object := corev1.Node{}
	err := r.Lab.Get("/api/v1/nodes/"+node, &object)
	return int(object.Status.Allocatable.Cpu().Value()), err
}

func plain(r *row) way {
	return way{name: "plain Slurm", fill: func(ctx context.Context, room int) (filling, error) { return fillSlurm(ctx, r, room) }}
}

func inPods(r *row) way {
	return way{name: "slurm-k8s", against: "plain Slurm", args: r.InPod(), fill: func(ctx context.Context, room int) (filling, error) {
		return fillKubernetes(ctx, r, room)
	}}
}

// fullSlurm are jobs that were there before, of a cpu each.
type fullSlurm struct {
	*row
	jobs []string
}

func fillSlurm(ctx context.Context, r *row, room int) (*fullSlurm, error) {
	f := &fullSlurm{row: r}
	each, err := slurmCPUs()
	if err != nil {
		return f, err
	}
	starts := newStarts(r.Work)
	for i := range 2*each - room {
		node := "n2" // the room is on n1
		if i >= each {
			node = "n1"
		}
		id, err := r.Sbatch(append(options(long), "--nodelist="+node, "--wrap", sleeper(long))...)
		if err != nil {
			return f, err
		}
		f.jobs = append(f.jobs, id)
	}
	for left := len(f.jobs); left > 0; {
		ids, err := starts.next(ctx, time.Minute)
		if err != nil {
			return f, err
		}
		left -= len(ids)
	}
	return f, nil
}

func (f *fullSlurm) makeRoom(context.Context) error {
	if len(f.jobs) == 0 {
		return errors.New("nothing is left that could make room")
	}
	id := f.jobs[len(f.jobs)-1]
	f.jobs = f.jobs[:len(f.jobs)-1]
	return f.cancelOne(id)
}

// empty leaves the jobs to the row, which cancels all.
func (f *fullSlurm) empty() error { return nil }

// fullKubernetes are Pods that ask for all cpus of both nodes.
type fullKubernetes struct {
	pods []*world.Pod // large ones first, those of one cpu behind them
}

func fillKubernetes(ctx context.Context, r *row, room int) (*fullKubernetes, error) {
	f := &fullKubernetes{}
	start := func(node string, cpus int) error {
		pod, err := r.StartPod("filler", "exec sleep 86400", node, int64(cpus))
		f.pods = append(f.pods, pod)
		return err
	}
	first, err := podCPUs(r, "real1")
	second, errSecond := podCPUs(r, "real2")
	if err = errors.Join(err, errSecond); err != nil {
		return f, err
	}
	err = errors.Join(start("real2", second), start("real1", first-room-rooms))
	for range rooms {
		err = errors.Join(err, start("real1", 1))
	}
	for _, pod := range f.pods {
		if err == nil {
			err = pod.Await(ctx, time.Minute, "Running")
		}
	}
	return f, err
}

func (f *fullKubernetes) makeRoom(ctx context.Context) error {
	if len(f.pods) == 0 {
		return errors.New("nothing is left that could make room")
	}
	last := f.pods[len(f.pods)-1]
	f.pods = f.pods[:len(f.pods)-1]
	return last.Gone(ctx, time.Minute)
}

func (f *fullKubernetes) empty() error {
	var errs []error
	for _, pod := range f.pods {
		errs = append(errs, pod.Remove())
	}
	f.pods = nil
	return errors.Join(errs...)
}
