// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var kubeNodes = []string{"real1", "real2"}

// freeCPU is what nobody has asked for of a Kubernetes node's cpus.
func (w *world) freeCPU(node string) (resource.Quantity, error) {
	var n corev1.Node
	var pods corev1.PodList
	if err := w.lab.Get("/api/v1/nodes/"+node, &n); err != nil {
		return resource.Quantity{}, err
	}
	err := w.lab.Get("/api/v1/pods?fieldSelector="+url.QueryEscape("spec.nodeName="+node+",status.phase!=Succeeded,status.phase!=Failed"), &pods)
	free := n.Status.Allocatable[corev1.ResourceCPU].DeepCopy()
	for _, pod := range pods.Items {
		for _, container := range pod.Spec.Containers {
			free.Sub(container.Resources.Requests[corev1.ResourceCPU])
		}
	}
	return free, err
}

// filler is a Pod of the administrator's that takes these cpus of a node.
func (w *world) filler(name, node string, cpus resource.Quantity) *corev1.Pod {
	grace := int64(0)
	amount := corev1.ResourceList{corev1.ResourceCPU: cpus}
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: name + "-" + node, Namespace: "default", Labels: map[string]string{"faults": name}},
		Spec: corev1.PodSpec{
			NodeSelector: map[string]string{corev1.LabelHostname: node}, TerminationGracePeriodSeconds: &grace, RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{
				Name: "fill", Image: w.lab.Vars["IMAGE_TINY"], Command: []string{"sleep", "3600"},
				Resources: corev1.ResourceRequirements{Requests: amount, Limits: amount},
			}},
		},
	}
}

func removeFillers(name string) error {
	return kubectl("", "-n", "default", "delete", "pod", "-l", "faults="+name, "--grace-period=0", "--force")
}

// fillAll leaves no cpu to anybody; running jobs stay.
func fillAll(w *world, s *strike, h *hit) (func() error, error) {
	name := fmt.Sprintf("faults-full-%d", s.number)
	h.target = "both nodes"
	undo := func() error { return removeFillers(name) }
	for _, node := range kubeNodes {
		free, err := w.freeCPU(node)
		if err != nil {
			return undo, err
		}
		if free.Sign() <= 0 {
			continue
		}
		text, err := json.Marshal(w.filler(name, node, free))
		if err != nil {
			return undo, err
		}
		if err := kubectl(string(text), "create", "-f", "-"); err != nil {
			return undo, err
		}
	}
	return undo, nil
}

func cordon(w *world, s *strike, h *hit) (func() error, error) {
	h.target, _ = one(s, kubeNodes)
	return func() error { return kubectl("", "uncordon", h.target) }, kubectl("", "cordon", h.target)
}

// loseNode: its machine is gone, and its object with it; later it is there again, with nothing of before.
func loseNode(w *world, s *strike, h *hit) (func() error, error) {
	h.target, _ = one(s, kubeNodes)
	h.reach.node = h.target
	return func() error { return w.script("node", "up", h.target) }, w.script("node", "down", h.target)
}

// cutOff: the control plane knows nothing more of a node and evicts its Pods, whose processes live on, as does their
// connection; later the node is heard of again.
func cutOff(w *world, s *strike, h *hit) (func() error, error) {
	h.target, _ = one(s, kubeNodes)
	h.reach.node = h.target
	undo := func() error {
		if err := w.script("start", "kubelet-"+h.target); err != nil {
			return err
		}
		kubectl("", "taint", "node", h.target, "faults:NoExecute-") // an error says that there is none
		var node corev1.Node
		if err := w.lab.Get("/api/v1/nodes/"+h.target, &node); err != nil {
			return err
		}
		if slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == "faults" }) {
			return fmt.Errorf("the taint stays")
		}
		return nil
	}
	if err := w.script("stop", "kubelet-"+h.target); err != nil {
		return undo, err
	}
	return undo, kubectl("", "taint", "node", h.target, "faults=cut:NoExecute")
}

var nodeFaults = []*faultKind{
	{name: "full", what: "every cpu of the cluster is taken for a while", low: 5 * time.Second, high: 25 * time.Second, alone: "room", effect: none, inject: fillAll},
	{name: "cordon", what: "a Kubernetes node takes no new Pods", low: 5 * time.Second, high: 25 * time.Second, alone: "kubelet", effect: none, inject: cordon},
	{name: "node-lost", what: "a Kubernetes node goes with all on it, and comes back empty", low: 3 * time.Second, high: 15 * time.Second, alone: "kubelet", effect: disrupted, inject: loseNode},
	{name: "node-cut", what: "a Kubernetes node is cut off with its tasks alive, its Pods are evicted, and it comes back", low: 10 * time.Second, high: 40 * time.Second, alone: "kubelet", effect: disrupted, inject: cutOff},
}
