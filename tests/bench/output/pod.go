// SPDX-License-Identifier: Apache-2.0

package output

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/world"
	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// podSpace is the namespace of the Pods that are not jobs'.
const podSpace = "default"

// pod is one without Slurm.
type pod struct {
	*world.World
	name string
	back func() error
}

var number atomic.Int64

// startPod makes one that runs a script; it is removed with the bench, if not before.
func (r *row) startPod(ctx context.Context, name, script string) (*pod, error) {
	p := &pod{World: r.World, name: fmt.Sprintf("bench-%s-%d-%d", name, os.Getpid(), number.Add(1))}
	limits := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("500Mi")}
	object := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: p.name},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: new(int64(1)),
			Containers: []corev1.Container{{
				Name: "job", Image: r.Image, Command: []string{"sh", "-c", script}, Resources: corev1.ResourceRequirements{Limits: limits},
			}},
		},
	}
	var err error
	p.back, err = r.Change("Pod "+p.name, func() error {
		return r.Client.Post().Namespace(podSpace).Resource("pods").Body(object).Do(ctx).Error()
	}, func() error {
		return r.Client.Delete().Namespace(podSpace).Resource("pods").Name(p.name).Body(&metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}).
			Do(context.Background()).Error()
	})
	return p, err
}

func (p *pod) remove() {
	if err := p.back(); err != nil {
		fmt.Fprintf(os.Stderr, "bench: Pod %s is not removed: %s\n", p.name, err)
	}
}

// await waits until the Pod is in one of these phases.
func (p *pod) await(ctx context.Context, limit time.Duration, phases ...corev1.PodPhase) error {
	state := &corev1.Pod{}
	var err error
	if !testcluster.Until(limit, func() bool {
		err = p.Client.Get().Namespace(podSpace).Resource("pods").Name(p.name).Do(ctx).Into(state)
		return ctx.Err() != nil || err == nil && (slices.Contains(phases, state.Status.Phase) || state.Status.Phase == corev1.PodFailed)
	}) || err != nil || !slices.Contains(phases, state.Status.Phase) {
		return fmt.Errorf("the Pod %s is %s, not %s (%s) %w", p.name, state.Status.Phase, phases[0], state.Status.Message, err)
	}
	return nil
}
