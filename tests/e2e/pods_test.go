// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// podsOf lists the Pods of a job, in whatever namespace.
func podsOf(job string) ([]corev1.Pod, error) {
	var list corev1.PodList
	err := lab.Get("/api/v1/pods?labelSelector="+url.QueryEscape("app=slurm-job,job-id="+job), &list)
	return list.Items, err
}

// podState is one word: gone (nil), pending, running, terminated.
func podState(pod *corev1.Pod) string {
	switch {
	case pod == nil:
		return "gone"
	case len(pod.Status.ContainerStatuses) == 0:
		return "pending"
	case pod.Status.ContainerStatuses[0].State.Running != nil:
		return "running"
	case pod.Status.ContainerStatuses[0].State.Terminated != nil:
		return "terminated"
	}
	return "pending"
}

// create makes a Pod with kubectl and waits until it runs.
func create(pod *corev1.Pod) error {
	manifest, err := json.Marshal(pod)
	if err != nil {
		return err
	}
	apply := exec.Command("kubectl", "create", "-f", "-")
	apply.Stdin = strings.NewReader(string(manifest))
	if out, err := apply.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl create: %w: %s", err, out)
	}
	path := "/api/v1/namespaces/" + pod.Namespace + "/pods/" + pod.Name
	var seen corev1.Pod
	if !until(60*time.Second, func() bool { return lab.Get(path, &seen) == nil && podState(&seen) == "running" }) {
		return fmt.Errorf("Pod %s does not run after 60 s: %v", pod.Name, seen.Status.Conditions)
	}
	return nil
}
