// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podsOf lists the Pods of a job.
func podsOf(job string) ([]corev1.Pod, error) {
	var list corev1.PodList
	err := lab.get("/api/v1/namespaces/"+namespace+"/pods?labelSelector="+url.QueryEscape("app=slurm-job,job-id="+job), &list)
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

// fill puts a Pod of the administrator's into the cluster and waits until it runs.
func fill(w *world, amounts map[string]string) error {
	list := corev1.ResourceList{}
	for name, amount := range amounts {
		quantity, err := resource.ParseQuantity(amount)
		if err != nil {
			return fmt.Errorf("%s=%s: %w", name, amount, err)
		}
		list[corev1.ResourceName(name)] = quantity
	}
	grace := int64(0)
	pod := corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: w.fillName(), Namespace: "default"},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: &grace,
			RestartPolicy:                 corev1.RestartPolicyNever,
			Containers: []corev1.Container{{
				Name: "fill", Image: os.Getenv("IMAGE_TINY"), Command: []string{"sleep", "3600"},
				Resources: corev1.ResourceRequirements{Requests: list, Limits: list},
			}},
		},
	}
	w.filled = true
	return create(&pod)
}

// freeOf is what nobody has asked for of a resource of the node real1.
func freeOf(name string) (string, error) {
	var node corev1.Node
	if err := lab.get("/api/v1/nodes/real1", &node); err != nil {
		return "", err
	}
	var pods corev1.PodList
	if err := lab.get("/api/v1/pods?fieldSelector="+url.QueryEscape("spec.nodeName=real1,status.phase!=Succeeded,status.phase!=Failed"), &pods); err != nil {
		return "", err
	}
	free := node.Status.Allocatable[corev1.ResourceName(name)]
	for _, pod := range pods.Items {
		for _, container := range pod.Spec.Containers {
			free.Sub(container.Resources.Requests[corev1.ResourceName(name)])
		}
	}
	return free.String(), nil
}

func (w *world) fillName() string { return "fill-" + strings.ToLower(w.name) }

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
	if !until(60*time.Second, func() bool { return lab.get(path, &seen) == nil && podState(&seen) == "running" }) {
		return fmt.Errorf("Pod %s does not run after 60 s: %v", pod.Name, seen.Status.Conditions)
	}
	return nil
}

// unfill removes the Pod of fill and waits until it is gone.
func unfill(w *world) error {
	if _, err := run(30*time.Second, "kubectl", "-n", "default", "delete", "pod", w.fillName(), "--ignore-not-found", "--grace-period=0", "--force"); err != nil {
		return err
	}
	path := "/api/v1/namespaces/default/pods/" + w.fillName()
	if !until(60*time.Second, func() bool { return errors.Is(lab.get(path, nil), errNotFound) }) {
		return errors.New(w.fillName() + " is not gone after 60 s")
	}
	w.filled = false
	return nil
}
