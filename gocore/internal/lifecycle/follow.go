// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// Bounds of the removal of a Pod.
const (
	removeLimit = 12 * time.Second // finish has 20 s in sum
	removePause = 250 * time.Millisecond
)

// follow begins to follow a Pod that this step created.
func (s *Step) follow(pod *corev1.Pod) {
	s.doubt = ""
	s.left.set("Pod " + pod.Name)
	s.Reached(stageCreated)
	s.watchPod(pod, false)
}

// visit begins to follow another step's Pod, in which this one runs.
func (s *Step) visit(pod *corev1.Pod) { s.watchPod(pod, true) }

func (s *Step) watchPod(pod *corev1.Pod, guest bool) {
	ctx, cancel := context.WithCancel(context.Background())
	f := &followed{pod: pod, last: pod, states: make(chan *corev1.Pod, 1), guest: guest, cancel: cancel, done: make(chan struct{})}
	s.pod = f
	go func() {
		defer close(f.done)
		defer func() {
			if r := recover(); r != nil {
				s.Log.Errorf("panic while following the Pod: %v", r)
			}
		}()
		s.Cluster.Follow(ctx, pod, f.put, func() { f.put(nil) }, func(err error) {
			s.Log.WithError(err).Info("the watch of the Pod was interrupted; it goes on")
		})
	}()
}

// put leaves the newest state, in place of an older one that was not read.
func (f *followed) put(pod *corev1.Pod) {
	if pod != nil {
		f.newest.Store(pod)
	}
	select {
	case <-f.states:
	default:
	}
	f.states <- pod
}

// saw takes over a state that states gave.
func (f *followed) saw(pod *corev1.Pod) {
	f.pod = pod
	if pod == nil {
		pod = f.newest.Load()
	}
	if pod != nil {
		f.last = pod
	}
}

// catchUp takes over the newest state, if there is one that was not read.
func (f *followed) catchUp() {
	select {
	case pod := <-f.states:
		f.saw(pod)
	default:
	}
}

// reading is what is known of the Pod.
func (f *followed) reading() podstatus.Reading {
	if f.pod == nil {
		return podstatus.ReadGone(f.last)
	}
	return podstatus.Read(f.pod)
}

// forget stops following.
func (s *Step) forget() {
	if s.pod != nil {
		s.pod.cancel()
		<-s.pod.done
		s.pod = nil
	}
}

// remove deletes the Pod and waits, bounded, until it is gone. True: it is.
func (s *Step) remove() bool { return s.removeWithin(removeLimit) }

func (s *Step) removeWithin(limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	s.leave()
	if s.pod == nil && s.doubt != "" {
		s.find(ctx)
	}
	if s.pod == nil {
		return s.doubt == ""
	}
	if s.pod.pod == nil || !s.delete(ctx) {
		gone := s.pod.pod == nil
		if gone {
			s.podGone()
		}
		s.forget()
		return gone
	}
	for s.pod.pod != nil {
		select {
		case pod := <-s.pod.states:
			s.pod.saw(pod)
		case <-ctx.Done():
			s.left.set("Pod " + s.pod.pod.Name + " is deleted but not gone")
			s.forget()
			return false
		}
	}
	s.podGone()
	s.forget()
	return true
}

// podGone: nothing is left of it, or Kubernetes sees to that.
func (s *Step) podGone() {
	s.left.set("")
	s.Reached(stagePodGone)
}

// find looks for the Pod whose creation was not answered. It may be ours, and nobody else
// would remove it soon.
func (s *Step) find(ctx context.Context) {
	for {
		pod, err := s.Cluster.GetPod(ctx, s.doubt)
		switch {
		case err == nil && pod.Annotations[wellknown.AnnotationSession] == podspec.Session(s.session):
			s.follow(pod)
			return
		case err == nil, apierrors.IsNotFound(err):
			s.doubt = ""
			s.left.set("")
			return
		}
		timer := s.Clock.NewTimer(removePause)
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
			s.left.set("Pod " + s.doubt + " may have been made; Kubernetes does not say: " + err.Error())
			return
		}
	}
}

// delete asks for the Pod's deletion until Kubernetes has taken it. A Pod that is gone
// already, or another one under its name, counts as taken.
func (s *Step) delete(ctx context.Context) bool {
	pod := s.pod.pod
	s.left.set("Pod " + pod.Name)
	for {
		err := s.Cluster.DeletePod(ctx, pod.Name, pod.UID, 1)
		switch {
		case err == nil:
			return true
		case apierrors.IsNotFound(err), apierrors.IsConflict(err):
			s.pod.saw(nil)
			return false
		}
		s.Log.WithError(err).Infof("Pod %s could not be deleted; trying again", pod.Name)
		timer := s.Clock.NewTimer(removePause)
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
			s.left.set("Pod " + pod.Name + " could not be deleted: " + err.Error())
			return false
		}
	}
}
