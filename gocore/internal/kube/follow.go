// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
)

// Bounds of the pause between two attempts to reach the API again.
const (
	followPause    = 200 * time.Millisecond
	followPauseMax = 10 * time.Second
)

// Follow calls see with every state of the Pod from the given one on, until ctx
// ends or the Pod is gone, which it says with gone. It is level-driven: a broken
// watch or a version too old is answered by a get. log is told of each interruption.
// It blocks; see and gone are called on the caller's goroutine. Needs the verbs
// watch and get on pods.
func (c *Client) Follow(ctx context.Context, pod *corev1.Pod, see func(*corev1.Pod), gone func(), log func(error)) {
	pause := followPause
	for ctx.Err() == nil {
		next, ended, err := c.watchOnce(ctx, pod, see)
		if ended {
			gone()
			return
		}
		if next != pod {
			pod, pause = next, followPause
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			log(err)
		}
		if !sleep(ctx, pause) {
			return
		}
		pause = min(2*pause, followPauseMax)
		fresh, err := c.GetPod(ctx, pod.Namespace, pod.Name)
		switch {
		case apierrors.IsNotFound(err), err == nil && fresh.UID != pod.UID:
			gone()
			return
		case err != nil:
			if ctx.Err() == nil {
				log(err)
			}
		case fresh.ResourceVersion != pod.ResourceVersion:
			pod = fresh
			see(pod)
		}
	}
}

// watchOnce follows one watch to its end: the last state seen, and whether the Pod is gone.
func (c *Client) watchOnce(ctx context.Context, pod *corev1.Pod, see func(*corev1.Pod)) (*corev1.Pod, bool, error) {
	options := &metav1.ListOptions{
		Watch:           true,
		FieldSelector:   fields.OneTermEqualSelector("metadata.name", pod.Name).String(),
		ResourceVersion: pod.ResourceVersion,
	}
	watcher, err := c.REST.Get().Namespace(pod.Namespace).Resource("pods").
		VersionedParams(options, c.params).Watch(ctx)
	if err != nil {
		return pod, false, err
	}
	defer watcher.Stop()
	for {
		select {
		case <-ctx.Done():
			return pod, false, ctx.Err()
		case event, open := <-watcher.ResultChan():
			if !open {
				return pod, false, nil
			}
			if event.Type == watch.Error {
				return pod, false, apierrors.FromObject(event.Object)
			}
			seen, isPod := event.Object.(*corev1.Pod)
			if !isPod || seen.UID != pod.UID {
				continue
			}
			pod = seen
			see(pod)
			if event.Type == watch.Deleted {
				return pod, true, nil
			}
		}
	}
}

// sleep waits about d (half of it to all of it), or until ctx ends: then false.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d/2 + rand.N(d/2+1))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
