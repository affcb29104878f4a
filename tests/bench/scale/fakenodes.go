// SPDX-License-Identifier: Apache-2.0

package scale

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

	"github.com/slurm-k8s/slurm-k8s/tests/bench/world"
)

// fakeNodes are objects of nodes that no kubelet stands behind, tainted so that no Pod goes there: the scheduler, the
// collector and the API server have as much to do with them as with real ones. kube-controller-manager, which
// would find them dead, is away as long.
type fakeNodes struct {
	world *world.World
	made  int
}

const (
	fakeLabel = "slurm-k8s-bench/fake"
	fakeTaint = "slurm-k8s-bench/fake"
)

func (f *fakeNodes) begin() error {
	return f.world.Script(time.Minute, "stop", "kube-controller-manager")
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
					errs[i] = f.world.Client.Post().Resource("nodes").Body(fakeNode(n)).Do(context.Background()).Error()
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
	err := f.world.Client.Delete().Resource("nodes").VersionedParams(&metav1.ListOptions{LabelSelector: fakeLabel}, scheme.ParameterCodec).
		Body(&metav1.DeleteOptions{}).Timeout(5 * time.Minute).Do(context.Background()).Error()
	return errors.Join(err, f.world.Script(2*time.Minute, "start", "kube-controller-manager"), f.world.Collect())
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
