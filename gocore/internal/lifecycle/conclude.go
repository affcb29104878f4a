// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/report"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/stream"
)

const (
	// slurmPause between two attempts to reach slurmctld, doubling.
	slurmPause    = time.Second
	slurmPauseMax = 30 * time.Second
	// endStepLimit bounds the attempts to end an interrupted step on its other nodes.
	endStepLimit = 10 * time.Second
	// detachLimit bounds the last word to podinit; it exits by itself without it.
	detachLimit = 2 * time.Second
)

// conclude does what the outcome asks for: tells the user and Slurm, ends the relays,
// removes the Pod. Run's goroutine, once.
func (s *Step) conclude(o outcome) {
	defer s.writing.Wait() // before anything that it needs is ended
	defer s.sweep()
	s.endCommands() // before the relays: the first one looks whether somebody may still call
	s.note(o.exits)
	s.endPeers()
	switch o.kind {
	case ended:
		s.concludeEnded(o)
	case disrupted:
		s.concludeDisrupted(o)
	case putBack:
		s.concludePutBack(o)
	case faulty:
		s.end(o.reason)
	case abandoned:
		s.concludeAbandoned(o)
	}
}

// concludeEnded: the tasks' own end. The relays go before the Pod: the job is over when they are.
func (s *Step) concludeEnded(o outcome) {
	s.tellEnd(o)
	if o.reason != "" {
		s.remember(o.reason)
	} else if o.cut {
		s.remember(report.OutputCut())
	}
	if o.memory && s.Job.IsBatch() {
		if err := s.Slurm.CompleteOutOfMemory(s.Job.ID); err != nil {
			s.Log.WithError(err).Info("Slurm did not take OUT_OF_MEMORY; the job ends as its task did")
		}
	}
	s.keepUsage()
	s.exit(o.exits)
	s.cleanUp(false)
}

// concludeDisrupted: no fault of the job's. It runs again where it allows that.
func (s *Step) concludeDisrupted(o outcome) {
	s.tellEnd(o)
	if !s.Job.IsBatch() {
		s.keepUsage()
		s.exit(o.exits)
		s.cleanUp(true)
		s.endStep()
		return
	}
	if !s.Job.Requeue {
		s.remember(o.reason)
		s.exit(o.exits)
		s.cleanUp(true)
		return
	}
	s.cleanUp(true)
	s.requeue(o.reason, 0)
}

// concludePutBack: it never started, so it may be requeued even under --no-requeue.
func (s *Step) concludePutBack(o outcome) {
	s.cleanUp(true)
	delay := job.Backoff(s.record.Gated, s.Site.Requeue, s.Random())
	s.record.Gated++
	s.tell(report.PutBack(o.reason, delay))
	s.requeue(o.reason, delay)
}

// concludeAbandoned: Slurm ends the step; it needs no reason from us.
func (s *Step) concludeAbandoned(o outcome) {
	s.Log.Infof("the step ends: %v", o.cause)
	var signal cancelled
	signalled := errors.As(o.cause, &signal)
	if o.exits == nil && signalled {
		o.exits = s.sameExit(uint32(signal))
	}
	unstarted := !s.started.Load() // and Slurm may have ended this node's part alone
	if unstarted && !signalled {
		s.writing.Go(func() { // not behind a Pod that goes slowly: the other nodes wait for this one's
			defer recoverTo(s.Log)
			s.endStep()
		})
	}
	s.cleanUp(true) // first: Slurm may be slow, and Finish's time is short
	if unstarted && s.Job.IsBatch() {
		s.rememberUnstarted()
	}
	s.keepUsage()
	s.exit(o.exits)
	if unstarted && signalled { // now that the relays here end by the signal, not by Slurm's KILL
		s.endStep()
	}
}

// end fails the job with a reason.
func (s *Step) end(reason string) {
	s.tell(reason)
	s.remember(reason)
	s.keepUsage()
	s.exit(s.sameExit(1 << 8))
	s.cleanUp(true)
	s.endStep()
}

// endStep ends the step on its other Slurm nodes, which would wait for this one's part. An
// interrupted step tries again, too: a slurmctld that is away for a moment must not cost them that.
func (s *Step) endStep() {
	if s.Job.IsBatch() || s.Job.Nodes < 2 {
		return
	}
	call := func() error { return s.Slurm.EndStep(s.Job.ID, s.number()) }
	err := s.insist("the end", call)
	limit := s.Clock.Now().Add(endStepLimit) // s.ctx has ended, where there is an error that is not final
	for pause := slurmPause; err != nil && !s.Slurm.Final(err) && s.Clock.Now().Add(pause).Before(limit); pause *= 2 {
		<-s.Clock.After(pause)
		err = call()
	}
	if err != nil {
		s.Log.WithError(err).Info("Slurm did not end the step on its other nodes")
	}
}

// tellEnd tells why the tasks ended, where that is worth a line, and what may be lost of them.
func (s *Step) tellEnd(o outcome) {
	if o.reason != "" {
		s.tell(o.reason)
	}
	if o.cut {
		s.tell(report.OutputCut())
	}
}

// tell writes a line to the stderr of the first task that is there, and to Slurm's log.
func (s *Step) tell(reason string) {
	s.Log.Info(reason)
	for task, relay := range s.Relays {
		if !s.ended[task].Load() {
			relay.Notice(reason)
			return
		}
	}
}

// exit ends each relay as its task ended; a task without an end ends with 1.
func (s *Step) exit(exits []stream.Exit) {
	if len(exits) != len(s.Relays) {
		exits = s.sameExit(1 << 8)
	}
	for i := range s.Relays {
		s.exitTask(uint32(i), exits[i])
	}
}

// exitTask ends one relay; the first call counts. Any goroutine may call it.
func (s *Step) exitTask(task uint32, exit stream.Exit) {
	if !s.ended[task].Swap(true) {
		s.Relays[task].Exit(exit)
	}
}

func (s *Step) sameExit(status uint32) []stream.Exit {
	exits := make([]stream.Exit, len(s.Relays))
	for i := range exits {
		exits[i].Status = status
	}
	return exits
}

// cleanUp ends the session and removes the Pod. With wait it stays until the Pod is gone:
// an ordinary end need not, since podinit has already said that nothing is left running.
func (s *Step) cleanUp(wait bool) {
	if s.connected != nil {
		ctx, cancel := context.WithTimeout(context.Background(), detachLimit)
		s.connected.Detach(ctx)
		cancel()
		s.endSession()
	}
	if wait {
		s.remove()
		return
	}
	s.leave()
	if s.pod != nil {
		ctx, cancel := context.WithTimeout(context.Background(), removeLimit)
		defer cancel()
		if s.pod.pod == nil || s.delete(ctx) || s.pod.pod == nil { // gone before, deleted, or gone meanwhile
			s.podGone()
		}
	}
	s.forget()
}

// remember leaves a job's reason in AdminComment, where sacct shows it. A numbered step's is
// told by srun, and its job goes on.
func (s *Step) remember(reason string) {
	if !s.Job.IsBatch() {
		return
	}
	if s.startedSteps() {
		if err := s.takeSteps(&s.record, s.used); err != nil {
			s.Log.WithError(err).Info("what the job's steps used cannot be read")
		}
	}
	s.record.Reason = reason
	s.used = nil // it stands in the record
	record := s.record
	err := s.insist("update", func() error {
		return s.Slurm.Update(s.Job.ID, []string{"admin_comment=" + record.Encode()})
	})
	if err == nil {
		return
	}
	s.writing.Go(func() {
		defer recoverTo(s.Log)
		if s.started.Load() && s.Slurm.Ended(err) {
			err = s.amend(record)
		}
		if err != nil {
			s.Log.WithError(err).Info("Slurm did not take the job's update")
		}
	})
}

// rememberUnstarted counts an incarnation that Slurm requeued before it started.
func (s *Step) rememberUnstarted() {
	facts, err := s.Slurm.Facts(s.Job.ID)
	if err != nil || fact(facts, "state") != "PENDING" {
		return
	}
	// It may have been interrupted before it learned what stands there.
	s.record, s.record.Foreign = job.ParseAdminComment(fact(facts, "admin_comment"))
	s.record.Gated++
	s.update([]string{"admin_comment=" + s.record.Encode()})
}

// requeue puts the job back to PENDING, to begin after delay, and ends the relays once
// Slurm has taken it. A Slurm that does not answer is asked again for as long as the step lives.
func (s *Step) requeue(reason string, delay time.Duration) {
	s.record.Reason = reason
	err := s.insist("requeue", func() error { return s.Slurm.Requeue(s.Job.ID) })
	noRequeue := err != nil && s.Slurm.NoRequeue(err) && !s.started.Load()
	if noRequeue {
		s.Log.Info("the job has --no-requeue but has not started: the flag is lifted for this requeue")
		s.update([]string{"requeue=1"})
		err = s.insist("requeue", func() error { return s.Slurm.Requeue(s.Job.ID) })
	}
	if err != nil {
		s.Log.WithError(err).Error("Slurm did not requeue the job")
		s.tell(report.NotRequeued(err))
		if noRequeue {
			s.update([]string{"requeue=0"})
		}
		s.remember(reason)
		s.exit(s.sameExit(1 << 8))
		return
	}
	fields := []string{"admin_comment=" + s.record.Encode()}
	if delay > 0 {
		fields = append(fields, "begin_time="+strconv.FormatInt(s.Clock.Now().Add(delay).Unix(), 10))
	}
	if noRequeue {
		fields = append(fields, "requeue=0")
	}
	s.update(fields)
	s.exit(s.sameExit(0))
}

// update changes the job; a fault is logged, since nothing depends on it but what users read.
func (s *Step) update(fields []string) {
	if err := s.insist("update", func() error { return s.Slurm.Update(s.Job.ID, fields) }); err != nil {
		s.Log.WithError(err).Info("Slurm did not take the job's update")
	}
}

// insist repeats a call of Slurm's until it works, is refused for good, or the step is interrupted:
// from then on each call is tried once.
func (s *Step) insist(what string, call func() error) error {
	pause := slurmPause
	for {
		err := call()
		if err == nil || s.Slurm.Final(err) {
			return err
		}
		if s.ctx.Err() != nil {
			return err
		}
		s.Log.WithError(err).Infof("%s of the job failed; trying again", what)
		if !s.wait(pause) {
			return err
		}
		pause = min(2*pause, slurmPauseMax)
	}
}
