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
// ends or the Pod is gone, which it says with gone. A watch that breaks is followed by
// one to which the server first sends what is there: the Pod's own version, by which the first
// one begins, may be too old by then, and stays so for as long as the Pod does not change. log is
// told of each interruption. It blocks; see and gone are called on the caller's goroutine. Needs
// the verb watch on pods.
func (c *Client) Follow(ctx context.Context, pod *corev1.Pod, see func(*corev1.Pod), gone func(), log func(error)) {
	pause := followPause
	options := metav1.ListOptions{ResourceVersion: pod.ResourceVersion}
	for ctx.Err() == nil {
		begun := time.Now()
		next, ended, err := c.watchOnce(ctx, pod, options, see)
		if ended {
			gone()
			return
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			log(err)
		}
		if next != pod || time.Since(begun) > followPauseMax {
			pod, pause = next, followPause
		}
		if !sleep(ctx, pause) {
			return
		}
		pause = min(2*pause, followPauseMax)
		options = fromNow
	}
}

// fromNow asks a watch for what is there first, and for a mark where that ends.
var fromNow = metav1.ListOptions{
	SendInitialEvents:    new(true),
	ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	AllowWatchBookmarks:  true,
}

// marksTheBegin tells whether an event ends what is there first.
func marksTheBegin(event watch.Event) bool {
	mark, isPod := event.Object.(*corev1.Pod)
	return event.Type == watch.Bookmark && isPod && mark.Annotations[metav1.InitialEventsAnnotationKey] == "true"
}

// watchOnce follows one watch to its end: the last state seen, and whether the Pod is gone.
func (c *Client) watchOnce(ctx context.Context, pod *corev1.Pod, options metav1.ListOptions, see func(*corev1.Pod)) (*corev1.Pod, bool, error) {
	options.Watch = true
	options.FieldSelector = fields.OneTermEqualSelector("metadata.name", pod.Name).String()
	watcher, err := c.REST.Get().Namespace(pod.Namespace).Resource("pods").
		VersionedParams(&options, c.params).Watch(ctx)
	if err != nil {
		return pod, false, err
	}
	defer watcher.Stop()
	there := false
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
			if marksTheBegin(event) && !there {
				return pod, true, nil
			}
			seen, isPod := event.Object.(*corev1.Pod)
			if !isPod || seen.UID != pod.UID || event.Type == watch.Bookmark {
				continue
			}
			there = true
			if seen.ResourceVersion != pod.ResourceVersion {
				pod = seen
				see(pod)
			}
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
