// SPDX-License-Identifier: Apache-2.0

package world

import (
	"errors"
	"fmt"
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
func (w *World) NoPods() error {
	if !testcluster.Until(time.Minute, func() bool {
		pods := corev1.PodList{}
		return w.Lab.Get("/api/v1/namespaces/"+testcluster.Namespace+"/pods", &pods) == nil && len(pods.Items) == 0
	}) {
		return errors.New("the Pods of earlier jobs are not gone after a minute")
	}
	return nil
}
