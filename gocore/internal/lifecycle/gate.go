// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/report"
)

// gate is the wait for one Pod: the limits on it, and which of them have passed.
type gate struct {
	*Step
	wait, grace, late, pulls, quiet         clock.Timer
	waitOver, graceOver, tooLate, quietOver bool
	asked, scheduled                        bool
	news                                    *news
	turn                                    *turn
}

// await waits until the Pod's container runs ("", nil). A text asks for another attempt.
func (s *Step) await(limit time.Time) (again string, verdict *outcome) {
	g := s.newGate(limit)
	defer g.stop()
	for {
		reading := s.pod.reading()
		g.news.tell(reading)
		if !g.scheduled && reading.NodeName != "" {
			g.hasNode()
		}
		if over, again, verdict := g.judge(reading); over {
			return again, verdict
		}
		if !g.next() {
			return "", s.interrupted()
		}
	}
}

func (s *Step) newGate(limit time.Time) *gate {
	begun := s.Clock.Now()
	return &gate{
		Step:  s,
		wait:  s.Clock.NewTimer(s.gateWait()),
		grace: s.Clock.NewTimer(s.Site.Gate.Grace.Duration),
		late:  s.Clock.NewTimer(limit.Sub(begun)),
		pulls: s.Clock.NewTimer(s.pullsUntil.Sub(begun)),
		quiet: s.Clock.NewTimer(seekLimit),
		news:  newNews(s),
		turn:  &turn{step: s},
	}
}

func (g *gate) stop() {
	for _, timer := range []clock.Timer{g.wait, g.grace, g.late, g.pulls, g.quiet} {
		timer.Stop()
	}
	g.news.stop()
	g.turn.stop()
}

// hasNode: from here on the limit is for pulls and mounts, however long the gate took.
func (g *gate) hasNode() {
	g.scheduled, g.tooLate = true, false
	g.turn.stop()
	g.Reached(stageScheduled)
	g.Step.hasNode()
	g.late.Reset(g.Site.StartLimit.Duration)
}

// judge says what the Pod's state means now. over: await returns the other two.
func (g *gate) judge(reading podstatus.Reading) (over bool, again string, verdict *outcome) {
	fault := reading.StartFault
	switch {
	case reading.State == podstatus.Gone:
		return true, report.Vanished(), nil
	case reading.State == podstatus.Running:
		g.Reached(stageRunning)
		return true, "", nil
	case fault != nil && fault.Class == podstatus.ClassFinal && !g.pullsAgain(fault):
		return true, "", failed(report.CannotStart(fault))
	case fault != nil && fault.Class == podstatus.ClassRetry && fault.Ended:
		return true, report.CannotStart(fault), nil
	case reading.State == podstatus.Terminated && reading.End.KilledFromOutside():
		return true, report.EndedEarly(reading.End), nil
	case reading.State == podstatus.Terminated:
		return true, "", failed(report.EndedEarly(reading.End))
	case reading.Deleting:
		return true, report.Vanished(), nil
	case reading.Unschedulable != "" && g.graceOver && !reading.Nominated:
		verdict = g.withoutRoom(reading)
	case g.quietOver && g.yields && reading.Unschedulable == "" && !reading.Nominated:
		if g.yieldsRoom() {
			return true, "", returned(report.StartTimedOut(seekLimit, reading, nil))
		}
		g.quietOver = false
		g.quiet.Reset(retryPause)
	case g.tooLate && (reading.Unschedulable == "" || reading.Nominated) && g.givesUpStart():
		verdict = returned(report.StartTimedOut(g.Site.StartLimit.Duration, reading, g.events()))
	}
	return verdict != nil, "", verdict
}

// withoutRoom is for a Pod of which kube-scheduler says so; nil: it keeps its place.
func (g *gate) withoutRoom(reading podstatus.Reading) *outcome {
	if reading.NeverFits && !g.asked && !g.Site.Gate.Autoscaler {
		g.asked = true
		if verdict := g.neverFits(reading.Unschedulable); verdict != nil {
			return verdict
		}
	}
	g.roomless = true
	if g.yields {
		if g.yieldsRoom() {
			return returned(report.NoRoom(reading.Unschedulable))
		}
		g.quiet.Reset(retryPause)
	}
	if g.waitOver && g.givesUpRoom() {
		return returned(report.NoRoom(reading.Unschedulable))
	}
	g.turn.want(reading.Unschedulable, g.waitOver)
	if g.waitOver {
		g.waitOver = false
		g.wait.Reset(retryPauseMax)
	}
	return nil
}

// next waits for news of the Pod or of the limits. False: the step is interrupted.
func (g *gate) next() bool {
	select {
	case pod := <-g.pod.states:
		g.pod.saw(pod)
	case <-g.grace.C():
		g.graceOver = true
	case <-g.wait.C():
		g.waitOver = true
	case <-g.quiet.C():
		g.quietOver = true
	case <-g.late.C():
		g.tooLate = true
	case <-g.pulls.C(): // what was denied until now is denied
	case <-g.news.due():
		g.news.ready = true
	case <-g.turn.due():
		g.turn.passed()
	case <-g.ctx.Done():
		return false
	}
	return true
}

// gateWait is how long the Pod keeps its place without room. A step that may go to other clusters
// does not wait longer each time in one of them.
func (s *Step) gateWait() time.Duration { return job.GateWait(s.putBacks(), s.Site.Gate) }

// putBacks is how often the step was put back, or gave its Pod up, before it started.
func (s *Step) putBacks() uint32 {
	if len(s.choices) > 0 {
		return 0
	}
	return s.record.Gated + s.attempts
}

// neverFits asks the published shapes whether the scheduler's hint is the truth.
func (s *Step) neverFits(message string) *outcome {
	shapes, err := s.Cluster.Shapes(s.ctx)
	if err != nil {
		s.Log.WithError(err).Info("the published node shapes cannot be read; the job waits for room")
		return nil
	}
	if holds, why := shapes.Holds(podspec.RequestOf(s.pod.pod)); !holds && !shapes.Autoscaler {
		return failed(report.NeverFits(why, message))
	}
	return nil
}

// events are Kubernetes' own words on what hung; none where they cannot be read.
func (s *Step) events() []corev1.Event {
	ctx, cancel := context.WithTimeout(s.ctx, 5*time.Second)
	defer cancel()
	events, err := s.Cluster.Events(ctx, s.pod.last.UID)
	if err != nil {
		s.Log.WithError(err).Info("the Pod's events cannot be read")
	}
	return events
}
