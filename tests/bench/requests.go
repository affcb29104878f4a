// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/gauge"
	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// requests counts what a job asks of Kubernetes, by the audit log, and of slurmctld beside plain Slurm's, by sdiag; then what is left
// behind of many jobs.
func (b *bench) requests() (lines gauge.Lines, err error) {
	if err := b.noPods(); err != nil { // what a row before has left is not this one's
		return nil, err
	}
	plain, err := b.slurmRequests(nil)
	if err != nil {
		return nil, err
	}
	log, err := gauge.MarkAudit(b.lab.Dir)
	if err != nil {
		return nil, err
	}
	ours, err := b.slurmRequests(inPod(benchImage()))
	if err != nil {
		return nil, err
	}
	if err := b.noPods(); err != nil {
		return nil, err
	}
	verbs, err := log.Counted(gauge.ByNode)
	if err != nil {
		return nil, err
	}
	n := float64(b.n)
	for _, verb := range slices.Sorted(maps.Keys(verbs)) {
		lines.Add("requests to Kubernetes for a job: "+verb, "", "", verbs[verb]/n)
	}
	lines.Add("requests to Kubernetes for a job, in sum", "", "", gauge.Sum(verbs)/n)
	for name := range plain {
		ours[name] += 0 // a line for what only plain Slurm asks
	}
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		if plain[name]+ours[name] == 0 {
			continue
		}
		lines.Add("requests to slurmctld for a job: "+name+", plain Slurm", "", "", plain[name]/n)
		lines.Add("requests to slurmctld for a job: "+name+", slurm-k8s", "", "", ours[name]/n)
	}
	const sum = "requests to slurmctld for a job, in sum: "
	lines.Add(sum+plainWay, "", "", gauge.Sum(plain)/n)
	lines.Add(sum+"slurm-k8s", "", sum+plainWay, gauge.Sum(ours)/n)
	return lines, b.growth(&lines)
}

// slurmRequests runs n jobs and gives the requests that slurmctld got, by type. The bench itself asks slurmdbd meanwhile.
func (b *bench) slurmRequests(args []string) (map[string]float64, error) {
	before, err := gauge.Slurmctld()
	if err != nil {
		return nil, err
	}
	for range b.n {
		id, err := b.sbatch(append(args, "--wrap", "true")...)
		if err != nil {
			return nil, err
		}
		if !testcluster.Until(2*time.Minute, func() bool {
			out, err := testcluster.Run(20*time.Second, "sacct", "-X", "-n", "-P", "-j", id, "-o", "State")
			return err == nil && strings.TrimSpace(out) == "COMPLETED"
		}) {
			return nil, fmt.Errorf("job %s has not COMPLETED after 2 min", id)
		}
	}
	after, err := gauge.Slurmctld()
	for name := range after {
		after[name] -= before[name]
	}
	return after, err
}
