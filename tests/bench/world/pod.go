// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// PodSpace is the namespace of the Pods that are not jobs'.
const PodSpace = "default"

// Pod is one without Slurm. It is removed with the bench, if not before.
type Pod struct {
	Name   string
	Remove func() error

	world *World
}

var podNumber atomic.Int64

// StartPod makes one that runs a script and asks for cpus; on a Kubernetes node, where one is named.
func (w *World) StartPod(name, script, node string, cpus int64) (*Pod, error) {
	p := &Pod{Name: fmt.Sprintf("bench-%s-%d-%d", name, os.Getpid(), podNumber.Add(1)), world: w}
	limits := corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(cpus, resource.DecimalSI), corev1.ResourceMemory: resource.MustParse("100Mi")}
	object := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: p.Name},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: new(int64(1)),
			Containers: []corev1.Container{{
				Name: "job", Image: w.Image, Command: []string{"sh", "-c", script}, Resources: corev1.ResourceRequirements{Limits: limits},
			}},
		},
	}
	if node != "" {
		object.Spec.NodeSelector = map[string]string{corev1.LabelHostname: node}
	}
	var err error
	p.Remove, err = w.Change("Pod "+p.Name, func() error {
		return w.Client.Post().Namespace(PodSpace).Resource("pods").Body(object).Do(context.Background()).Error()
	}, func() error {
		return w.Client.Delete().Namespace(PodSpace).Resource("pods").Name(p.Name).Body(&metav1.DeleteOptions{GracePeriodSeconds: new(int64(1))}).
			Do(context.Background()).Error()
	})
	return p, err
}

// Await waits until the Pod is in one of these phases.
func (p *Pod) Await(ctx context.Context, limit time.Duration, phases ...corev1.PodPhase) error {
	state := &corev1.Pod{}
	var err error
	if testcluster.Until(limit, func() bool {
		err = p.get(ctx).Into(state)
		return ctx.Err() != nil || err == nil && (slices.Contains(phases, state.Status.Phase) || state.Status.Phase == corev1.PodFailed)
	}) && err == nil && slices.Contains(phases, state.Status.Phase) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("the Pod %s is %s, not %s: %s", p.Name, state.Status.Phase, phases[0], state.Status.Message)
}

// Gone removes the Pod and waits until nothing is left of it; it looks often, since the moment counts.
func (p *Pod) Gone(ctx context.Context, limit time.Duration) error {
	if err := p.Remove(); err != nil {
		return err
	}
	for end := time.Now().Add(limit); !apierrors.IsNotFound(p.get(ctx).Error()); time.Sleep(20 * time.Millisecond) {
		if ctx.Err() != nil || time.Now().After(end) {
			return fmt.Errorf("the Pod %s is still there %s after it was deleted", p.Name, limit)
		}
	}
	return nil
}

func (p *Pod) get(ctx context.Context) rest.Result {
	return p.world.Client.Get().Namespace(PodSpace).Resource("pods").Name(p.Name).Do(ctx)
}
