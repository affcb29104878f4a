// SPDX-License-Identifier: Apache-2.0

package world

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// Ended waits until a job has ended, and wants it COMPLETED.
func (w *World) Ended(id string, limit time.Duration) error {
	state := ""
	testcluster.Until(limit, func() bool {
		records, err := testcluster.Records(id)
		if err == nil {
			state = records[0]["JobState"]
		}
		return testcluster.Terminal[state]
	})
	if state != "COMPLETED" {
		return fmt.Errorf("job %s is %s, not COMPLETED", id, state)
	}
	return nil
}

// NoPods waits until the Pods of jobs before are gone, and so all that was asked for them.
func (w *World) NoPods() error { return NoPods(w.Lab, time.Minute, testcluster.Namespace) }

// NoPods waits until no Pod is left in some namespaces.
func NoPods(lab *testcluster.Cluster, limit time.Duration, spaces ...string) error {
	if !testcluster.Until(limit, func() bool {
		return !slices.ContainsFunc(spaces, func(space string) bool {
			pods := corev1.PodList{}
			return lab.Get("/api/v1/namespaces/"+space+"/pods", &pods) != nil || len(pods.Items) > 0
		})
	}) {
		return fmt.Errorf("some Pods of earlier jobs are not gone after %s", limit)
	}
	return nil
}
