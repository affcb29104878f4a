// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/gauge"
	"github.com/slurm-k8s/slurm-k8s/tests/bench/world"
	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// growth is what Kubernetes writes for jobs that run, and for jobs that it has no room for.
func (b *bench) growth(lines *gauge.Lines) error {
	etcd, err := gauge.FindEtcd(b.lab.Dir)
	if err != nil {
		return err
	}
	run := func() (float64, error) {
		saved := b.many
		defer func() { b.many = saved }()
		b.many = b.growthJobs
		return float64(b.growthJobs), errors.Join(b.array(inPod(benchImage())...), b.noPods())
	}
	if err := b.grown(lines, etcd, "1,000 jobs", 1000, run); err != nil {
		return err
	}
	back, err := b.noRoom()
	if err != nil {
		return errors.Join(err, back())
	}
	return errors.Join(b.grown(lines, etcd, "a job that is refused for want of room", 1, b.refused), back())
}

// noRoom lets no Pod go to the nodes.
func (b *bench) noRoom() (back func() error, err error) {
	nodes := func(verb string) func() error {
		return func() error {
			_, err := testcluster.Run(time.Minute, "kubectl", append([]string{verb}, world.RealNodes...)...)
			return err
		}
	}
	return b.changes.make("nodes that take no Pods", nodes("cordon"), nodes("uncordon"))
}

// refused has jobs refused and gives how many refusals there were.
func (b *bench) refused() (float64, error) {
	count := min(manyAtOnce, max(2, b.growthJobs/10))
	log, err := gauge.MarkAudit(b.lab.Dir)
	if err != nil {
		return 0, err
	}
	ctld, err := gauge.MarkLog(filepath.Join(b.lab.Dir, "log/slurmctld.log"))
	if err != nil {
		return 0, err
	}
	id, err := b.sbatch(append([]string{fmt.Sprintf("--array=1-%d", count), "-o", "/dev/null", "--mem=50M"}, append(inPod(benchImage()), "--wrap", "true")...)...)
	if err != nil {
		return 0, err
	}
	_, err = ctld.AwaitSome(2*time.Minute, count, "Requeuing JobId="+id+"_")
	if err := errors.Join(err, b.cancel(id), b.noPods()); err != nil {
		return 0, err
	}
	verbs, err := log.Counted(gauge.ByNode)
	return verbs["create pods"], err
}

// grown measures around what is done, and adds it for so many of it.
func (b *bench) grown(lines *gauge.Lines, etcd *gauge.Etcd, of string, scale float64, do func() (float64, error)) error {
	before, err := etcd.Compacted()
	if err != nil {
		return err
	}
	log, err := gauge.MarkAudit(b.lab.Dir)
	if err != nil {
		return err
	}
	done, err := do()
	if err != nil {
		return err
	}
	events, err := log.Counted(func(r gauge.Request) bool {
		return r.Object.Resource == "events" && slices.Contains([]string{"create", "patch", "update"}, r.Verb) && r.Response.Code < 300
	})
	if err != nil {
		return err
	}
	after, err := etcd.Compacted()
	if err != nil {
		return err
	}
	each := scale / done
	for _, verb := range slices.Sorted(maps.Keys(events)) {
		lines.Add(fmt.Sprintf("%s: Kubernetes' events, %s", of, strings.TrimSuffix(verb, " events")), "", "", events[verb]*each)
	}
	lines.Add(of+": writes to etcd", "", "", (after.Revision-before.Revision)*each)
	lines.Add(of+": what etcd keeps of it, versions of before compacted", "KB", "", (after.InUse-before.InUse)/1000*each)
	return nil
}
