// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/gauge"
	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// requests counts what one job asks of Kubernetes, from the audit log, and of slurmctld beyond plain Slurm, from sdiag.
func (b *bench) requests() (gauge.Lines, error) {
	log, err := gauge.MarkAudit(b.lab.Dir)
	if err != nil {
		return nil, err
	}
	// What a row before has left is not this one's.
	if !testcluster.Until(time.Minute, func() bool {
		var pods corev1.PodList
		return b.lab.Get("/api/v1/namespaces/"+testcluster.Namespace+"/pods", &pods) == nil && len(pods.Items) == 0
	}) {
		return nil, errors.New("the Pods of earlier jobs are not gone after a minute")
	}
	plain, err := b.slurmRequests(nil)
	if err != nil {
		return nil, err
	}
	ours, err := b.slurmRequests(inPod(os.Getenv("IMAGE_TINY")))
	if err != nil {
		return nil, err
	}
	verbs, err := log.Counted(gauge.ByNode)
	if err != nil {
		return nil, err
	}
	var lines gauge.Lines
	sum := 0.0
	for _, verb := range slices.Sorted(maps.Keys(verbs)) {
		lines = append(lines, gauge.Line{What: "Kubernetes: " + verb, Samples: []float64{verbs[verb] / float64(b.n)}})
		sum += verbs[verb] / float64(b.n)
	}
	lines = append(lines, gauge.Line{What: "Kubernetes, in sum", Samples: []float64{sum}})
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		if more := (ours[name] - plain[name]) / float64(b.n); more > 0.01 {
			lines = append(lines, gauge.Line{What: "slurmctld, beyond plain Slurm: " + name, Samples: []float64{more}})
		}
	}
	return lines, nil
}

// slurmRequests runs n jobs and gives the requests that slurmctld got, by type. The bench itself asks slurmdbd.
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
