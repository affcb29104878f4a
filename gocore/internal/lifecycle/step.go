// SPDX-License-Identifier: Apache-2.0

// Package lifecycle is the life of one step of a job in a Pod: gate, connect, run,
// end, clean up. It does no I/O of its own: Kubernetes, Slurm, relays and time stand
// behind the interfaces of ports.go.
//
// One goroutine owns a Step: the one that called Run. Helpers that it starts end
// before Run returns.
package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/report"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/stream"
)

// Why a step is interrupted; the cause of its context.
var (
	errKilled = errors.New("the relay is gone")   // KILL, or the relay died
	errFinish = errors.New("Slurm ends the step") // slurm_spank_exit
)

// cancelled: a signal ends the step before it has started.
type cancelled uint32

func (c cancelled) Error() string { return "cancelled" }

// Config is what a Step needs. Job holds what the host said at the start; Slurm's
// own facts are merged into it.
type Config struct {
	// Fault, if any, is why the step cannot run; it is told to the user, and nothing else
	// of the configuration but Job.ID, Relays, Slurm, SessionID, Clock and Log is used.
	Fault    string
	Job      job.Job
	Site     *site.Config
	Podinit  []byte // the program that goes into the ConfigMap
	Relays   []Relay
	Commands Commands // nil: the host has no place for them
	// Cluster is nil where the site names several: Open opens them, by their configurations.
	Cluster    Cluster
	Open       func(*site.Config) (Cluster, error)
	Directory  site.Directory // of the site's users and groups
	Turns      Turns          // nil: the host names no folder for them
	Slurm      Slurm
	NewSession func(id uint64, dial stream.Dialer, reached func(stage string)) Session
	SessionID  func() uint64  // random, never 0
	Random     func() float64 // 0 to 1
	Clock      clock.Clock
	Log        logrus.FieldLogger
}

// Step is one run of a step on this Slurm node.
type Step struct {
	Config
	stop context.CancelCauseFunc
	done chan struct{}
	ctx  context.Context

	since      time.Time
	numbered   bool   // Job is not a batch script; for goroutines that must not read Job, as id
	id         uint32 // Job's, for goroutines that must not read Job while facts are merged into it
	session    uint64
	launches   []stream.Launch
	record     job.Record
	used       *job.StepRecord // of the step, until it is written
	writing    sync.WaitGroup  // what else is written to Slurm beside the end: it, and the end of the step elsewhere
	pullSecret []byte          // of the user's own; nil: none
	pullsUntil time.Time       // a pull that is denied before is tried again
	namespace  tried           // what was done about a namespace that may not be there
	pod        *followed       // nil before one was created, and after it is known to be gone
	seat       *followed       // what was made for the step where pod is another step's
	doubt      string          // name of a Pod whose creation was not answered: it may be there
	attempts   uint32          // how often the Pod of a numbered step was given up before it started
	peers      *peers          // of a step on several nodes, until it has started; on the first of them, until it ends
	missed     int             // start limits that passed without a Pod of every node
	addresses  []string        // of the step's Pods, in the order of its nodes
	connected  Session         // nil before the container runs
	running    *running        // its goroutine
	started    atomic.Bool
	held       heldSignals
	handedOver chan struct{} // closed when the session takes the relays' signals
	ended      []atomic.Bool // by task: its relay was told to end
	left       leftover

	choices    []string // the site's clusters, of which one is still to be found
	seeking    bool     // a cluster that does not answer is left soon
	yields     bool     // one without room, too
	placed     bool     // its scheduler has given the Pod a node
	roomless   bool     // it said that there is no room now
	behind     []behind
	leftBehind leftover
}

// New makes a Step that waits for Run.
func New(config Config) *Step {
	ctx, stop := context.WithCancelCause(context.Background())
	return &Step{Config: config, ctx: ctx, stop: stop, done: make(chan struct{}), since: config.Clock.Now(), handedOver: make(chan struct{}), id: config.Job.ID, numbered: !config.Job.IsBatch(), session: config.SessionID(), ended: make([]atomic.Bool, len(config.Relays))}
}

// Run lives the step's life and returns when everything is cleaned up, or cannot be.
// It is called once.
func (s *Step) Run() {
	defer close(s.done)
	defer s.endCommands()
	defer s.stop(nil)
	defer s.writing.Wait() // of a life that panicked
	defer s.endPeers()
	defer func() {
		if r := recover(); r != nil {
			s.Log.Errorf("panic in the life of the step: %v", r)
			s.end(report.Internal(fmt.Sprint(r)))
		}
	}()
	if !s.greet() {
		return
	}
	var watchers sync.WaitGroup
	for task, relay := range s.Relays {
		watchers.Go(func() { s.watch(uint32(task), relay) })
	}
	verdict := s.live()
	s.Reached(stageEndKnown)
	s.conclude(verdict)
	s.stop(nil)
	watchers.Wait()
}

// Finish ends the step and waits for that until ctx ends. It says what is left, or "".
// Any goroutine may call it.
func (s *Step) Finish(ctx context.Context) string {
	s.stop(errFinish)
	select {
	case <-s.done:
	case <-ctx.Done():
	}
	if behind := s.leftBehind.text(); behind != "" {
		return strings.TrimPrefix(s.left.text()+"; "+behind, "; ")
	}
	return s.left.text()
}

// greet waits for every relay's hello. False: one did not come, since the tasks were
// never run; then nothing was made and nothing is to be told.
func (s *Step) greet() bool {
	for _, relay := range s.Relays {
		launch, err := relay.Hello(s.ctx)
		if err != nil {
			s.Log.WithError(err).Info("no hello from the relay; nothing was started")
			s.exit(nil) // those that are there shall not wait
			if s.ctx.Err() == nil {
				s.endStep() // nor those on other nodes
			}
			return false
		}
		s.launches = append(s.launches, launch)
	}
	return true
}

// live is the life up to the end of the tasks.
func (s *Step) live() outcome {
	if fault := s.learn(); fault != nil {
		return *fault
	}
	if s.Job.Joins() {
		return s.liveInside()
	}
	for {
		verdict := s.begin()
		if verdict == nil {
			return s.attend()
		}
		if verdict.kind != putBack || s.Job.IsBatch() {
			return *verdict
		}
		if !s.waitAgain(verdict.reason) {
			return *s.interrupted()
		}
	}
}

// begin makes the Pod and starts the tasks in it; nil: they run.
func (s *Step) begin() *outcome {
	limit := s.Clock.Now().Add(s.Site.StartLimit.Duration)
	host, verdict := s.host(limit)
	switch {
	case verdict != nil:
	case host != nil:
		verdict = s.placeInside(host, limit)
	default:
		if s.Job.Overlap && s.Job.NodeID == 0 && s.attempts == 0 {
			s.tell(report.StepOverlaps())
		}
		if len(s.choices) > 0 {
			verdict = s.seek()
		} else {
			verdict = s.place()
		}
	}
	if verdict != nil {
		if verdict.kind == putBack && s.othersStarted() {
			verdict.kind = faulty
		}
		return verdict
	}
	if verdict := s.gather(); verdict != nil {
		return verdict
	}
	if s.Job.NodeID != 0 {
		s.endPeers()
	}
	if verdict := s.pinCluster(); verdict != nil {
		return verdict
	}
	if host != nil {
		verdict = s.begun(s.Clock.Now().Add(s.Site.StartLimit.Duration))
	}
	if verdict == nil {
		verdict = s.connect()
	}
	if verdict != nil && verdict.kind == putBack && !s.Job.IsBatch() && s.Job.Nodes > 1 {
		verdict.kind = faulty // the other nodes' tasks have started
	}
	return verdict
}

// learn asks Slurm about the job and checks what it says.
func (s *Step) learn() *outcome {
	var facts []string
	err := s.insist("the question about the job", func() (err error) {
		facts, err = s.Slurm.Facts(s.Job.ID)
		return err
	})
	if s.ctx.Err() != nil {
		return s.interrupted()
	}
	if err != nil {
		return failed(report.NoFacts(err))
	}
	s.record, s.record.Foreign = job.ParseAdminComment(fact(facts, "admin_comment"))
	if s.Fault != "" {
		return failed(s.Fault)
	}
	if err := s.Job.Merge(facts); err != nil {
		return failed(report.Refused(err))
	}
	if verdict := s.chooseCluster(fact(facts, "nodes")); verdict != nil {
		return verdict
	}
	if s.Job.IsBatch() || s.Job.Joins() {
		return nil
	}
	return s.learnStep()
}

// learnStep asks Slurm what of the job a numbered step has.
func (s *Step) learnStep() *outcome {
	var facts []string
	err := s.insist("the question about the step", func() (err error) {
		facts, err = s.Slurm.StepFacts(s.Job.ID, s.number())
		return err
	})
	if s.ctx.Err() != nil {
		return s.interrupted()
	}
	if err == nil {
		err = s.Job.MergeStep(facts)
	}
	if err != nil {
		return failed(report.Refused(err))
	}
	return nil
}

// number is a numbered step's.
func (s *Step) number() uint32 {
	number, _ := strconv.ParseUint(s.Job.Step, 10, 32) // checked by job.FromFields
	return uint32(number)
}

// interrupted is the outcome of an ended context.
func (s *Step) interrupted() *outcome {
	return &outcome{kind: abandoned, cause: context.Cause(s.ctx)}
}

// wait waits until d has passed (true) or the step is interrupted.
func (s *Step) wait(d time.Duration) bool {
	timer := s.Clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		return true
	case <-s.ctx.Done():
		return false
	}
}

// followed is a Pod that is being followed.
type followed struct {
	pod    *corev1.Pod                // the newest state, nil: gone; owned by the goroutine of Run
	last   *corev1.Pod                // the newest that was not nil
	states chan *corev1.Pod           // newest state only; nil Pod: gone
	newest atomic.Pointer[corev1.Pod] // that was put and not nil: states may have lost it to the nil
	guest  bool                       // it is another step's: nothing is ever done to it
	cancel context.CancelFunc
	done   chan struct{}
}
