// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/report"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// --k8s-cluster=auto: the Pod goes from cluster to cluster until a scheduler has given it a node.
// It is in one at a time, but for what cannot be removed where Kubernetes does not answer; that
// never gets a START, since the step connects to the cluster alone that it is in then, and podinit
// ends by itself without.

const (
	// seekLimit is for how long a cluster may leave a request without answer, or a Pod without
	// a word of its scheduler's.
	seekLimit = 10 * time.Second
	// leaveLimit is for the removal of the Pod before the next cluster's turn.
	leaveLimit = 5 * time.Second
	// sweepLimit is for another try at the end: of Finish's 20 s the rest is the step's own Pod's.
	sweepLimit = 4 * time.Second
)

// behind is a Pod that may be left in a cluster that the step has left.
type behind struct {
	cluster Cluster
	name    string // the cluster's
	pod     string
}

// seek places the Pod in the first cluster whose scheduler gives it a node. Where none does, the
// step waits for room in the first of those that may have some later, as the site prefers them.
func (s *Step) seek() *outcome {
	waits, possible := "", false
	var verdicts []report.ClusterVerdict
	for i, name := range s.choices {
		last := i == len(s.choices)-1 && waits == ""
		s.placed, s.roomless = false, false
		verdict := s.tryCluster(name, last)
		if verdict == nil || verdict.kind == abandoned || verdict.stays || s.placed {
			return verdict
		}
		verdicts = append(verdicts, report.ClusterVerdict{Cluster: name, Reason: verdict.reason})
		possible = possible || verdict.kind != faulty
		if s.roomless && waits == "" {
			waits = name
		}
		if last { // it has waited there
			break
		}
		s.abandon()
		text := report.ClusterLeft(name, verdict.reason)
		if s.numbered { // srun tells what it waits for
			s.tell(text)
		} else {
			s.Log.Info(text)
		}
	}
	if waits != "" && waits != s.choices[len(s.choices)-1] {
		verdict := s.tryCluster(waits, true)
		if verdict == nil || verdict.kind != putBack || verdict.stays || s.placed {
			return verdict
		}
	}
	if !possible {
		return failed(report.NoCluster(verdicts))
	}
	return returned(report.NoCluster(verdicts))
}

// tryCluster places the Pod in one cluster; waits: as long as the site has it, without going on meanwhile.
func (s *Step) tryCluster(name string, waits bool) *outcome {
	if verdict := s.enterCluster(name); verdict != nil {
		return verdict
	}
	s.seeking, s.yields = true, !waits
	defer func() { s.seeking, s.yields = false, false }()
	return s.place()
}

// hasNode ends the search: the Pod is where its scheduler has placed it.
func (s *Step) hasNode() { s.placed, s.seeking, s.yields = true, false, false }

// abandon removes what was made in a cluster, and remembers what may still be there.
func (s *Step) abandon() {
	pod := s.doubt
	if s.pod != nil {
		pod = s.pod.last.Name
	}
	if s.removeWithin(leaveLimit) && s.left.text() == "" {
		return
	}
	if pod == "" { // one that could not be removed before, to be made again
		pod = s.podName()
	}
	s.forget()
	s.doubt = ""
	s.behind = append(s.behind, behind{s.Cluster, s.Site.Kubernetes, pod})
	s.left.set("")
	s.nameBehind()
}

// nameBehind tells Finish what is left in other clusters.
func (s *Step) nameBehind() {
	text := ""
	for _, b := range s.behind {
		if text != "" {
			text += ", "
		}
		text += "Pod " + b.pod + " in cluster " + b.name
	}
	s.leftBehind.set(text)
}

// sweep tries again to remove what was left behind.
func (s *Step) sweep() {
	if len(s.behind) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), sweepLimit)
	defer cancel()
	kept := s.behind[:0]
	for _, b := range s.behind {
		if !s.removeBehind(ctx, b) {
			kept = append(kept, b)
		}
	}
	s.behind = kept
	s.nameBehind()
}

// removeBehind asks for the deletion until Kubernetes has taken it. True: nothing of this step is
// there, or goes.
func (s *Step) removeBehind(ctx context.Context, b behind) bool {
	for {
		pod, err := b.cluster.GetPod(ctx, b.pod)
		switch {
		case err == nil && (pod.Annotations[wellknown.AnnotationSession] != podspec.Session(s.session) || pod.DeletionTimestamp != nil):
			return true
		case apierrors.IsNotFound(err):
			return true
		case err == nil:
			err = b.cluster.DeletePod(ctx, b.pod, pod.UID, 1)
			if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // another one's by now
				return true
			}
		}
		timer := s.Clock.NewTimer(removePause)
		select {
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
			s.Log.WithError(err).Infof("Pod %s may be left in cluster %s", b.pod, b.name)
			return false
		}
	}
}

// yieldsRoom gives the Pod up for the next cluster's sake, unless it has got a node meanwhile.
func (s *Step) yieldsRoom() bool {
	ctx, cancel := context.WithTimeout(s.ctx, leaveLimit)
	defer cancel()
	err := s.Cluster.WithdrawPod(ctx, s.pod.pod)
	if apierrors.IsConflict(err) {
		return false
	}
	if err != nil && !apierrors.IsNotFound(err) {
		s.Log.WithError(err).Info("the Pod without room could not be given up; the step goes on elsewhere")
	}
	return true
}

// asking bounds one request before the start.
func (s *Step) asking() (context.Context, context.CancelFunc) {
	if s.seeking {
		return context.WithTimeout(s.ctx, seekLimit)
	}
	return s.ctx, func() {}
}

// pauseMax bounds the pause between two requests.
func (s *Step) pauseMax() time.Duration {
	if s.seeking {
		return 2 * retryPause
	}
	return retryPauseMax
}

// reach is until when a cluster's API may be away.
func (s *Step) reach(limit time.Time) time.Time {
	if soon := s.Clock.Now().Add(seekLimit); s.seeking && soon.Before(limit) {
		return soon
	}
	return limit
}
