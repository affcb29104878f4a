// SPDX-License-Identifier: Apache-2.0

package fakekubelet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
)

// fakePod is one that is bound to us.
type fakePod struct {
	namespace, name string
	uid             types.UID
	container       corev1.ContainerStatus // while it runs
	podinit         *podinit
}

func (p *fakePod) String() string { return p.namespace + "/" + p.name }

// all is the Pods of now.
func (k *Kubelet) all() []*fakePod {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Collect(maps.Values(k.pods))
}

// find gives a Pod by its name, or nil.
func (k *Kubelet) find(namespace, name string) *fakePod {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, pod := range k.pods {
		if pod.namespace == namespace && pod.name == name {
			return pod
		}
	}
	return nil
}

// follow takes the Pods that are bound to us, until ctx ends.
func (k *Kubelet) follow(ctx context.Context) {
	for ctx.Err() == nil {
		if err := k.followOnce(ctx); err != nil && ctx.Err() == nil {
			k.Log("the watch of Pods: " + err.Error())
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	}
}

func (k *Kubelet) followOnce(ctx context.Context) error {
	options := metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("spec.nodeName", k.Name).String()}
	pods := &corev1.PodList{}
	if err := k.Client.Get().Resource("pods").VersionedParams(&options, scheme.ParameterCodec).Do(ctx).Into(pods); err != nil {
		return err
	}
	for i := range pods.Items {
		k.take(ctx, &pods.Items[i])
	}
	options.Watch, options.ResourceVersion = true, pods.ResourceVersion
	events, err := k.Client.Get().Resource("pods").VersionedParams(&options, scheme.ParameterCodec).Watch(ctx)
	if err != nil {
		return err
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		pod, is := event.Object.(*corev1.Pod)
		switch {
		case !is:
			return apierrors.FromObject(event.Object)
		case event.Type == watch.Deleted:
			k.forget(pod.UID)
		default:
			k.take(ctx, pod)
		}
	}
	return nil
}

// take does what a Pod's state asks for.
func (k *Kubelet) take(ctx context.Context, pod *corev1.Pod) {
	if pod.DeletionTimestamp != nil {
		k.forget(pod.UID)
		gone := &fakePod{namespace: pod.Namespace, name: pod.Name, uid: pod.UID}
		k.run("Pod "+gone.String(), func() { k.remove(ctx, gone) })
		return
	}
	k.mu.Lock()
	known := k.pods[pod.UID] != nil
	k.mu.Unlock()
	if known || pod.Status.Phase != corev1.PodPending {
		return
	}
	if err := k.begin(ctx, pod); err != nil {
		k.Log(fmt.Sprintf("Pod %s/%s: %s", pod.Namespace, pod.Name, err))
	}
}

// begin lets it be said that a Pod runs; its podinit then waits for the core. The Pod is known before that is done, as one
// whose answer was lost runs; when it cannot be done it is unknown again, for the next event.
func (k *Kubelet) begin(ctx context.Context, pod *corev1.Pod) error {
	if len(pod.Spec.Containers) != 1 {
		return errors.New("not one container")
	}
	container := pod.Spec.Containers[0]
	session, err := sessionOf(container.Command)
	if err != nil {
		return err
	}
	fake := &fakePod{namespace: pod.Namespace, name: pod.Name, uid: pod.UID, podinit: &podinit{session: session}}
	fake.container = corev1.ContainerStatus{
		Name: container.Name, Image: container.Image, Ready: true, Started: new(true),
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}},
	}
	k.mu.Lock()
	k.pods[pod.UID] = fake
	k.made++
	address := fmt.Sprintf("10.212.%d.%d", k.made/250%250, k.made%250+1)
	k.mu.Unlock()
	yes := func(kind corev1.PodConditionType) corev1.PodCondition {
		return corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}
	}
	runs := corev1.PodStatus{
		Phase: corev1.PodRunning, HostIP: k.address.IP.String(), PodIP: address, PodIPs: []corev1.PodIP{{IP: address}},
		StartTime:         new(metav1.Now()),
		Conditions:        []corev1.PodCondition{yes(corev1.PodInitialized), yes(corev1.ContainersReady), yes(corev1.PodReady)},
		ContainerStatuses: []corev1.ContainerStatus{fake.container},
	}
	k.run("Pod "+fake.String(), func() {
		if k.tell(ctx, fake, runs) != nil && !fake.podinit.reached() {
			k.forget(pod.UID)
		}
	})
	return nil
}

// ended says that podinit has ended.
func (k *Kubelet) ended(ctx context.Context, pod *fakePod) {
	code := pod.podinit.code()
	status := pod.container
	status.Ready, status.Started = false, new(false)
	status.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: "Completed", StartedAt: status.State.Running.StartedAt, FinishedAt: metav1.Now(),
	}}
	phase := corev1.PodSucceeded
	if code != 0 {
		phase, status.State.Terminated.Reason = corev1.PodFailed, "Error"
	}
	_ = k.tell(ctx, pod, corev1.PodStatus{Phase: phase, ContainerStatuses: []corev1.ContainerStatus{status}}) // it is logged
}

// tell writes a Pod's status.
func (k *Kubelet) tell(ctx context.Context, pod *fakePod, status corev1.PodStatus) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.uid}, "status": status})
	if err != nil {
		return err
	}
	return k.ask(ctx, pod.String(), func(ctx context.Context) error {
		return k.Client.Patch(types.StrategicMergePatchType).Namespace(pod.namespace).Resource("pods").Name(pod.name).
			SubResource("status").Body(patch).Do(ctx).Error()
	})
}

// forget ends a Pod's podinit.
func (k *Kubelet) forget(uid types.UID) {
	k.mu.Lock()
	pod := k.pods[uid]
	delete(k.pods, uid)
	k.mu.Unlock()
	if pod != nil {
		pod.podinit.kill()
	}
}

// remove takes a Pod's object away, as kubelet does behind its containers.
func (k *Kubelet) remove(ctx context.Context, pod *fakePod) {
	_ = k.ask(ctx, pod.String(), func(ctx context.Context) error {
		err := k.Client.Delete().Namespace(pod.namespace).Resource("pods").Name(pod.name).
			Body(&metav1.DeleteOptions{GracePeriodSeconds: new(int64(0)), Preconditions: &metav1.Preconditions{UID: &pod.uid}}).Do(ctx).Error()
		if apierrors.IsConflict(err) { // another Pod has its name
			return nil
		}
		return err
	}) // it is logged
}
