// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/report"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/stream"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

const (
	// killLimit is what podinit gets to report the end of tasks it killed.
	killLimit = 5 * time.Second
	// settleLimit is what Kubernetes gets to say that an end was its doing: two of kubelet's
	// rounds. A job that Slurm's own signal ended pays it once, at its end.
	settleLimit = 2 * time.Second
)

// connect execs the pump, shakes hands and sends START: from here on the job has started.
func (s *Step) connect() *outcome {
	name := s.podName() // the dialer is called by the session's goroutine
	guest := s.pod.guest
	cluster := s.Cluster // no other one ever gets this START
	s.connected = s.NewSession(s.session, func(ctx context.Context) (io.ReadWriteCloser, error) {
		if guest {
			return s.pumpInside(ctx, name)
		}
		return cluster.Pump(ctx, name, s.session)
	}, s.Reached)
	ctx, cancel := context.WithTimeout(s.ctx, s.Site.StartLimit.Duration)
	defer cancel()
	s.runSession()
	if err := s.whileThere(ctx, s.connected.Connected); err != nil {
		if s.ctx.Err() != nil {
			return s.interrupted()
		}
		return returned(report.NoConnection(err))
	}
	s.Reached(stageConnected)
	if s.ctx.Err() != nil {
		return s.interrupted()
	}
	s.started.Store(true)
	if err := s.sendStart(ctx); err != nil {
		return s.notStarted(err)
	}
	s.held.release(s.connected.Signal)
	close(s.handedOver)
	for task := range s.Relays {
		s.connected.Forward(uint32(task))
	}
	return nil
}

// sendStart sends START and waits until the tasks are forked. The start limit, ctx's, is for a START
// that was never sent: behind one that was the tasks may run, and only podinit's word or the Pod's end
// tells, however long the stream is broken.
func (s *Step) sendStart(ctx context.Context) error {
	launches := s.prepared()
	start := func(ctx context.Context) error { return s.connected.Start(ctx, launches) }
	err := s.whileThere(ctx, start)
	if errors.Is(err, context.DeadlineExceeded) && s.connected.StartSent() {
		s.Log.Warn("the start was sent and not answered in time: the stream is broken; its answer is waited for")
		err = s.whileThere(s.ctx, start)
	}
	return err
}

// errOver is why a call to the stream is given up: nobody is left to answer it.
var errOver = errors.New("the Pod ended")

// whileThere follows the Pod during a call to the stream, and gives it up once the Pod is over.
func (s *Step) whileThere(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	answer := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				answer <- fmt.Errorf("panic: %v", r)
			}
		}()
		answer <- call(ctx)
	}()
	bound := patience{clock: s.Clock}
	bound.saw(s.pod.pod) // it may be over already
	for {
		select {
		case err := <-answer:
			return err
		case pod := <-s.pod.states:
			s.pod.saw(pod)
			bound.saw(pod)
		case <-bound.over:
			cancel(errOver)
		}
	}
}

// notStarted: only a START that was never sent leaves nothing done.
func (s *Step) notStarted(err error) *outcome {
	s.started.Store(s.connected.StartSent())
	switch {
	case s.ctx.Err() != nil:
		return s.interrupted()
	case s.started.Load():
		verdict := s.judge(nil)
		return &verdict
	case errors.Is(err, stream.ErrUnstartable):
		return failed(report.BadStart(err))
	}
	return returned(report.NoConnection(err))
}

// attend waits for the end of the tasks.
func (s *Step) attend() outcome {
	type answer struct {
		exits []stream.Exit
		err   error
	}
	answers := make(chan answer, 1)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		defer func() {
			if r := recover(); r != nil {
				answers <- answer{nil, fmt.Errorf("panic: %v", r)}
			}
		}()
		exits, err := s.collect(ctx)
		answers <- answer{exits, err}
	}()
	bound := patience{clock: s.Clock}
	bound.saw(s.pod.pod) // it may be over already
	interrupted := s.ctx.Done()
	killed := false
	for {
		select {
		case a := <-answers:
			if errors.Is(a.err, stream.ErrGone) {
				return s.judge(nil)
			}
			if a.err != nil {
				return outcome{kind: faulty, reason: report.BadStream(a.err)}
			}
			if killed {
				return outcome{kind: abandoned, exits: a.exits, cause: context.Cause(s.ctx)}
			}
			if !s.numbered || s.pod.guest && anyKilled(a.exits) {
				s.settle(a.exits)
			}
			return s.judge(a.exits)
		case pod := <-s.pod.states:
			s.pod.saw(pod)
			bound.saw(pod)
		case <-bound.over:
			if killed {
				return outcome{kind: abandoned, cause: context.Cause(s.ctx)}
			}
			return s.judge(nil)
		case <-interrupted:
			// Nothing may survive: KILL is what Slurm's own KILL would have been.
			interrupted, killed = nil, true
			s.connected.Signal(stream.TaskAll, stream.Signal{Number: uint32(syscall.SIGKILL), Flags: stream.FlagEvery})
			bound.within(killLimit)
		}
	}
}

// collect waits for the ends of the tasks. A numbered step's relay ends with its task: srun
// reports each, and --kill-on-bad-exit acts on the first. The last one is left to conclude,
// since the job may be over with it, and Slurm then takes no record of what the step used.
func (s *Step) collect(ctx context.Context) ([]stream.Exit, error) {
	if !s.numbered {
		return s.connected.Exits(ctx)
	}
	var tasks errgroup.Group
	var running atomic.Int32
	running.Store(int32(len(s.Relays)))
	for task := range s.Relays {
		tasks.Go(func() error {
			defer recoverTo(s.Log)
			exit, err := s.connected.Exit(ctx, uint32(task))
			if err != nil {
				return err
			}
			exit.Status = report.Sane(exit.Status)
			if exit.OOMKills > 0 {
				s.Relays[task].Notice(report.OutOfMemory(exit.OOMKills))
			}
			if running.Add(-1) > 0 {
				s.exitTask(uint32(task), exit)
			}
			return nil
		})
	}
	if err := tasks.Wait(); err != nil {
		return nil, err
	}
	return s.connected.Exits(ctx)
}

// settle gives Kubernetes a moment to say that it ended the Pod, where a task died of TERM
// or KILL: podinit's word is there before the eviction stands in the Pod's status.
func (s *Step) settle(exits []stream.Exit) {
	if !diedOfTheEnd(exits) {
		return
	}
	late := s.Clock.After(settleLimit)
	for {
		if r := s.pod.reading(); r.Deleting || r.Disruption.Any() || r.State >= podstatus.Terminated {
			return
		}
		select {
		case pod := <-s.pod.states:
			s.pod.saw(pod)
		case <-late:
			return
		case <-s.ctx.Done():
			return
		}
	}
}

// diedOfTheEnd tells whether a task ended as one that was asked to, or made to.
func diedOfTheEnd(exits []stream.Exit) bool {
	for _, exit := range exits {
		status := syscall.WaitStatus(exit.Status)
		for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
			if status.Signaled() && status.Signal() == signal || status.Exited() && status.ExitStatus() == 128+int(signal) {
				return true
			}
		}
	}
	return false
}

// judge makes the outcome of what the tasks said (nil: nothing came) and what Kubernetes says.
func (s *Step) judge(exits []stream.Exit) outcome {
	s.pod.catchUp()
	if s.pod.guest {
		return s.judgeInside(exits) // what ends it together with its container is a reason to tell
	}
	var statuses []uint32
	var kills uint32
	for i := range exits {
		exits[i].Status = report.Sane(exits[i].Status)
		statuses = append(statuses, exits[i].Status)
		if !s.numbered { // each task's has been told by collect
			kills = max(kills, exits[i].OOMKills)
		}
	}
	verdict := report.Judge(s.pod.reading(), statuses, kills)
	o := outcome{kind: ended, exits: exits, reason: verdict.Reason, memory: verdict.OutOfMemory, cut: exits == nil && !s.connected.OutputCame()}
	if verdict.Disrupted {
		o.kind = disrupted
	}
	if exits == nil {
		o.exits = s.sameExit(verdict.Status)
	}
	return o
}

func (s *Step) podName() string {
	if s.pod != nil && s.pod.pod != nil {
		return s.pod.pod.Name
	}
	return wellknown.PodName(s.Job.ID, s.Job.Step, s.Job.Component, s.Job.NodeID)
}
