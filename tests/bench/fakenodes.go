// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// fakeNodes are objects of nodes that no kubelet stands behind, tainted so that no Pod goes there: the scheduler, the
// collector and the API server have as much to do with them as with real ones. kube-controller-manager, which
// would find them dead, is away as long.
type fakeNodes struct {
	client rest.Interface // of core/v1
	made   int
}

const (
	fakeLabel = "slurm-k8s-bench/fake"
	fakeTaint = "slurm-k8s-bench/fake"
)

func newFakeNodes(client rest.Interface) (*fakeNodes, error) {
	_, err := testcluster.Run(time.Minute, "../cluster/stop", "kube-controller-manager")
	return &fakeNodes{client: client}, err
}

// upTo makes more of them until there are so many.
func (f *fakeNodes) upTo(count int) error {
	numbers := make(chan int)
	errs := make([]error, 8)
	var makers sync.WaitGroup
	for i := range errs {
		makers.Go(func() {
			for n := range numbers {
				if errs[i] == nil {
					errs[i] = f.client.Post().Resource("nodes").Body(fakeNode(n)).Do(context.Background()).Error()
				}
			}
		})
	}
	for n := f.made; n < count; n++ {
		numbers <- n
	}
	close(numbers)
	makers.Wait()
	f.made = max(f.made, count)
	return errors.Join(errs...)
}

// remove takes all of them away, and lets kube-controller-manager come back.
func (f *fakeNodes) remove() error {
	err := f.client.Delete().Resource("nodes").VersionedParams(&metav1.ListOptions{LabelSelector: fakeLabel}, scheme.ParameterCodec).
		Body(&metav1.DeleteOptions{}).Timeout(5 * time.Minute).Do(context.Background()).Error()
	_, started := testcluster.Run(2*time.Minute, "../cluster/start", "kube-controller-manager")
	return errors.Join(err, started)
}

// fakeNode is one of a few shapes, as kubelet would register it.
func fakeNode(n int) *corev1.Node {
	give := corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewQuantity(int64(16<<(n%4)), resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(int64(64<<(n%4))<<30, resource.BinarySI),
		corev1.ResourcePods:   resource.MustParse("110"),
	}
	if n%8 == 0 {
		give["nvidia.com/gpu"] = resource.MustParse("8")
	}
	name := fmt.Sprintf("bench-fake-%d", n)
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			fakeLabel: "yes", "kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "topology.kubernetes.io/zone": fmt.Sprintf("zone-%d", n%3),
		}},
		Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: fakeTaint, Effect: corev1.TaintEffectNoSchedule}}},
		Status: corev1.NodeStatus{
			Capacity: give, Allocatable: give,
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "Bench"}},
		},
	}
}
