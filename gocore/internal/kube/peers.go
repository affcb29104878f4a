// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// FollowAll calls see with all Pods that the label selector names, in no order, after each
// change of one of them, until ctx ends. What see gets was true at one moment, and every
// caller sees the moments in the same order, which is etcd's; one whose watch breaks may miss
// some. log is told of each interruption. It blocks; see is called on the caller's goroutine
// and must not change the Pods. Needs the verb watch on pods, and no list: the server sends
// what is there first.
func (c *Client) FollowAll(ctx context.Context, namespace, selector string, see func([]*corev1.Pod), log func(error)) {
	pause := followPause
	for ctx.Err() == nil {
		begun := time.Now()
		err := c.watchAll(ctx, namespace, selector, see)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			log(err)
		}
		if time.Since(begun) > followPauseMax {
			pause = followPause
		}
		if !sleep(ctx, pause) {
			return
		}
		pause = min(2*pause, followPauseMax)
	}
}

// watchAll follows one watch to its end.
func (c *Client) watchAll(ctx context.Context, namespace, selector string, see func([]*corev1.Pod)) error {
	options := fromNow
	options.Watch, options.LabelSelector = true, selector
	watcher, err := c.REST.Get().Namespace(namespace).Resource("pods").VersionedParams(&options, c.params).Watch(ctx)
	if err != nil {
		return err
	}
	defer watcher.Stop()
	pods := map[types.UID]*corev1.Pod{}
	complete := false
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case event, open := <-watcher.ResultChan():
			if !open {
				return nil
			}
			if event.Type == watch.Error {
				return apierrors.FromObject(event.Object)
			}
			pod, isPod := event.Object.(*corev1.Pod)
			switch {
			case !isPod:
				continue
			case event.Type == watch.Bookmark:
				if complete || !marksTheBegin(event) {
					continue
				}
				complete = true
			case event.Type == watch.Deleted:
				delete(pods, pod.UID)
			default:
				pods[pod.UID] = pod
			}
			if complete {
				see(slices.Collect(maps.Values(pods)))
			}
		}
	}
}
