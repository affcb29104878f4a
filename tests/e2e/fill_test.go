// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func cmdFill(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, len(args) > 0 && len(args) < 3 && !neg, "fill RESOURCE [LEFT]")
	var left resource.Quantity
	if len(args) == 2 {
		var err error
		left, err = resource.ParseQuantity(args[1])
		ts.Check(err)
	}
	ts.Check(fill(worldOf(ts), corev1.ResourceName(args[0]), left))
}

func cmdUnfill(ts *testscript.TestScript, _ bool, _ []string) { ts.Check(unfill(worldOf(ts))) }

// fill puts a Pod of the administrator's on each node that has more of a resource than is to be
// left, and waits until they run.
func fill(w *world, name corev1.ResourceName, left resource.Quantity) error {
	var nodes corev1.NodeList
	if err := lab.Get("/api/v1/nodes", &nodes); err != nil {
		return err
	}
	w.filled = true
	for i := range nodes.Items {
		free, err := freeOf(&nodes.Items[i], name)
		if err != nil {
			return err
		}
		kept := left.DeepCopy()
		if kept.Cmp(free) > 0 {
			kept = free.DeepCopy()
		}
		left.Sub(kept)
		free.Sub(kept)
		if free.Sign() <= 0 {
			continue
		}
		if err := create(w.filler(nodes.Items[i].Name, corev1.ResourceList{name: free})); err != nil {
			return err
		}
	}
	return nil
}

// filler is a Pod that takes this of a node: one resource.
func (w *world) filler(node string, amount corev1.ResourceList) *corev1.Pod {
	grace := int64(0)
	what := ""
	for name := range amount {
		what = strings.ReplaceAll(string(name), "/", "-")
	}
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: w.fillName() + "-" + node + "-" + what, Namespace: "default", Labels: map[string]string{"fill": w.fillName()}},
		Spec: corev1.PodSpec{
			NodeSelector:                  map[string]string{corev1.LabelHostname: node},
			TerminationGracePeriodSeconds: &grace,
			RestartPolicy:                 corev1.RestartPolicyNever,
			Containers: []corev1.Container{{
				Name: "fill", Image: os.Getenv("IMAGE_TINY"), Command: []string{"sleep", "3600"},
				Resources: corev1.ResourceRequirements{Requests: amount, Limits: amount},
			}},
		},
	}
}

// freeOf is what nobody has asked for of a node's resource.
func freeOf(node *corev1.Node, name corev1.ResourceName) (resource.Quantity, error) {
	var pods corev1.PodList
	err := lab.Get("/api/v1/pods?fieldSelector="+url.QueryEscape("spec.nodeName="+node.Name+",status.phase!=Succeeded,status.phase!=Failed"), &pods)
	free := node.Status.Allocatable[name].DeepCopy()
	for _, pod := range pods.Items {
		for _, container := range pod.Spec.Containers {
			free.Sub(container.Resources.Requests[name])
		}
	}
	return free, err
}

func (w *world) fillName() string { return "fill-" + strings.ToLower(w.name) }

// unfill removes the Pods of fill and waits until they are gone.
func unfill(w *world) error {
	if _, err := run(30*time.Second, "kubectl", "-n", "default", "delete", "pod", "-l", "fill="+w.fillName(), "--grace-period=0", "--force"); err != nil {
		return err
	}
	path := "/api/v1/namespaces/default/pods?labelSelector=" + url.QueryEscape("fill="+w.fillName())
	var left corev1.PodList
	if !until(60*time.Second, func() bool {
		left = corev1.PodList{}
		return lab.Get(path, &left) == nil && len(left.Items) == 0
	}) {
		return fmt.Errorf("%s: %d Pods are not gone after 60 s", w.fillName(), len(left.Items))
	}
	w.filled = false
	return nil
}
