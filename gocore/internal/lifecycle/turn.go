// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/report"
)

// kube-scheduler keeps no room for a Pod that it cannot place: what becomes free goes to the
// first Pod that fits there, and under a stream of small jobs a large one would never start.
// Therefore a step that was without room before has its turn: while it waits, later steps of
// this Slurm node that want of the same make no Pod. One step at a time has it, and only for as
// long as its Pod keeps its place (gate.wait, doubling), so that one that waits for what never
// comes does not stop the node.

// turnPause between two looks at whose turn it is, in a file of this node's.
const turnPause = time.Second

// takesTurns: a step of several nodes may hold room elsewhere meanwhile, and one that may go to
// other clusters does so. An autoscaler makes nodes for Pods that are there, so none may be kept back.
func (s *Step) takesTurns() bool {
	return s.Turns != nil && s.Site.Gate.Turns && !s.Site.Gate.Autoscaler && len(s.choices) == 0 && (s.Job.IsBatch() || s.Job.Nodes < 2)
}

// turn is a step's own while it waits for its Pod.
type turn struct {
	step   *Step
	waited bool        // long enough to have one
	timer  clock.Timer // nil: none runs; to the next try, or to the turn's end
	back   func()      // gives it back; nil: it has none
	over   bool        // there is no other in this wait
}

// want takes the turn, if the step has waited long enough and nobody has it: without room, by
// the scheduler's words, after being put back or, where it keeps its place for ever, after gate.wait.
func (t *turn) want(words string, waited bool) {
	s := t.step
	t.waited = t.waited || waited || s.putBacks() > 0
	if !t.waited || t.over || t.timer != nil || !s.takesTurns() {
		return
	}
	lacks := podstatus.Lacking(words)
	if len(lacks) == 0 {
		return
	}
	wants := podspec.Turn{Job: s.id, Lacks: lacks, Labels: podspec.RequestOf(s.pod.last).Labels}
	back, err := s.Turns.Take(s.Site.Kubernetes, wants)
	switch {
	case err != nil:
		t.over = true
		s.Log.WithError(err).Info("the step cannot have its turn for room; later ones may take it")
	case back == nil:
		t.timer = s.Clock.NewTimer(turnPause)
	default:
		t.back = back
		t.timer = s.Clock.NewTimer(s.Site.Gate.WaitMax.Duration)
		s.Log.Infof("Pod %s has its turn for %s: later jobs of this Slurm node that want of it wait", s.podName(), strings.Join(lacks, ", "))
	}
}

// due fires when want may try again, or the turn has lasted too long; the caller calls passed.
func (t *turn) due() <-chan time.Time {
	if t.timer == nil {
		return nil
	}
	return t.timer.C()
}

func (t *turn) passed() {
	t.over = t.back != nil
	t.stop()
}

func (t *turn) stop() {
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
	if t.back != nil {
		t.back()
		t.back = nil
	}
}

// letFirst waits while another job has its turn for what the Pod wants, too; nil: it may be made.
func (s *Step) letFirst(pod *corev1.Pod) *outcome {
	if !s.takesTurns() {
		return nil
	}
	begun := s.Clock.Now()
	told := false
	for {
		first := s.barredBy(pod)
		waited := s.Clock.Since(begun)
		switch {
		case first == nil:
			return nil
		case s.Job.IsBatch() && waited >= s.gateWait():
			return returned(report.NotItsTurn(first.Job))
		case s.numbered && !told && waited >= newsPatience:
			told = true
			s.tell(report.NotItsTurn(first.Job))
		}
		if !s.wait(turnPause) {
			return s.interrupted()
		}
	}
}

// barredBy is another job's turn that the Pod must not take from, or nil.
func (s *Step) barredBy(pod *corev1.Pod) *podspec.Turn {
	turn, err := s.Turns.Current(s.Site.Kubernetes)
	if err != nil {
		s.Log.WithError(err).Info("whose turn for room it is cannot be read; the step goes on")
		return nil
	}
	if turn == nil || turn.Job == s.id || !turn.Bars(podspec.RequestOf(pod)) {
		return nil
	}
	return turn
}
