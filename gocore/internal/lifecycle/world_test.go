// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sirupsen/logrus"
	"go.uber.org/goleak"
	"k8s.io/utils/clock"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/stream"
)

// Every test here runs in a bubble of testing/synctest: the clock is the bubble's, for
// clock.RealClock and for contexts' deadlines alike, so minutes pass at once and every
// wait is exact. The bubble also fails where a goroutine is left behind.

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	testJob     = 7
	testPod     = "slurm-job-7"
	testSession = 0x0123456789abcdef
	// stepLimit is when the model of slurmstepd loses patience with a step and kills it.
	stepLimit = 3 * time.Hour
	// finishBound is what the plugin gives to Finish.
	finishBound = 20 * time.Second
	killWait    = 30 * time.Second
)

// world is a step with models of all that it talks to, which note every rule it breaks.
type world struct {
	docker  string // what the relay reads of --k8s-pull-secret
	site    *site.Config
	stepID  string
	options job.Options
	nodes   int // of the step
	nodeID  int // of this one among them
	cluster *fakeCluster
	slurm   *fakeSlurm
	relays  []*fakeRelay
	step    *Step
	tasks   tasks  // what the tasks in the Pod do
	fault   string // of the configuration
	log     bytes.Buffer

	mu         sync.Mutex
	began      time.Time
	faults     map[string][]fault
	hooks      map[string]func()
	calls      []string
	first      map[string]time.Duration // when each was called first
	broken     []string                 // rules
	sessions   []*fakeSession
	starts     int
	signals    []uint32 // that podinit got
	over       chan struct{}
	left       string        // what Finish said
	ran        time.Duration // Run's whole time
	exited     time.Duration // until the last relay had its Exit
	cut        bool          // the process ended before Run did
	randomness float64
	timed      []func() // what begins with the life
}

// tasks is what the tasks do once they are started.
type tasks struct {
	take  time.Duration
	exit  stream.Exit
	traps bool                     // TERM does not end them
	mute  bool                     // they never end by themselves, not by KILL either
	early map[uint32]time.Duration // tasks that end before the others
}

// fault is what goes wrong with one call of a port.
type fault struct {
	err    error
	done   bool          // it was done all the same: its answer is lost
	took   time.Duration // how long the call takes; 0: a millisecond
	panics bool
	always bool // the next calls, too
}

func newWorld() *world {
	w := &world{
		site: site.Default(), stepID: "batch", nodes: 1, options: job.Options{Image: "registry.lab/tiny:1"}, faults: map[string][]fault{}, hooks: map[string]func(){}, first: map[string]time.Duration{}, over: make(chan struct{}),
		tasks: tasks{take: 2 * time.Second}, randomness: 1, began: time.Now(),
	}
	w.cluster = newFakeCluster(w)
	w.slurm = newFakeSlurm(w)
	w.addRelay()
	return w
}

func (w *world) addRelay() {
	w.relays = append(w.relays, &fakeRelay{w: w, task: uint32(len(w.relays)), signals: make(chan stream.Signal, 64), done: make(chan struct{})})
}

// fail makes the next calls of a port fail, in this order.
func (w *world) fail(call string, faults ...fault) {
	w.faults[call] = append(w.faults[call], faults...)
}

// at does something when a port is called for the first time, before the call is.
func (w *world) at(call string, do func()) { w.hooks[call] = do }

// after does something when so much time has passed since the beginning.
func (w *world) after(d time.Duration, do func()) {
	w.timed = append(w.timed, func() { time.AfterFunc(d, do) })
}

// call is one call of a port.
func (w *world) call(ctx context.Context, name string, do func() error) error {
	w.mu.Lock()
	w.calls = append(w.calls, name)
	if _, called := w.first[name]; !called {
		w.first[name] = time.Since(w.began)
	}
	hook := w.hooks[name]
	delete(w.hooks, name)
	var f fault
	if queue := w.faults[name]; len(queue) > 0 {
		if f = queue[0]; !f.always {
			w.faults[name] = queue[1:]
		}
	}
	w.mu.Unlock()
	if hook != nil {
		hook()
	}
	took := f.took
	if took == 0 {
		took = time.Millisecond
	}
	select {
	case <-time.After(took):
	case <-ctx.Done():
		// The server may have it: the worst is what is assumed.
		if name == "CreatePod" || f.done {
			_ = do()
		}
		return ctx.Err()
	case <-w.over:
		return errors.New("the test is over")
	}
	if f.panics {
		panic("injected into " + name)
	}
	if f.err == nil || f.done {
		if err := do(); f.err == nil {
			return err
		}
	}
	return f.err
}

// breaks notes that a rule was broken.
func (w *world) breaks(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = append(w.broken, fmt.Sprintf(format, args...))
}

func (w *world) count(call string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, c := range w.calls {
		if c == call {
			n++
		}
	}
	return n
}

func (w *world) requests() int {
	n := 0
	for _, call := range []string{"EnsurePodinit", "CreatePod", "GetPod", "DeletePod", "Follow", "Events", "Shapes", "Pump", "Join"} {
		n += w.count(call)
	}
	return n
}

func (w *world) since() time.Duration { return time.Since(w.began) }

func (w *world) notices() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.relays[0].notices, "\n")
}

// exit is what the first relay was told.
func (w *world) exit() stream.Exit {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.relays[0].exits) == 0 {
		return stream.Exit{Status: 0xffff}
	}
	return w.relays[0].exits[0]
}

func (w *world) make() {
	log := logrus.New()
	log.SetOutput(&w.log) // logrus locks
	log.SetLevel(logrus.DebugLevel)
	log.SetFormatter(stamped{w})
	config := Config{
		Job: job.Job{
			ID: testJob, Step: w.stepID, Cluster: "lab", Node: "n1", UID: 1000, GID: 1000, User: "alice", CPUs: 1, Nodes: w.nodes, NodeID: w.nodeID,
			Tasks: len(w.relays), Requeue: true, Options: w.options,
		},
		Fault: w.fault, Site: w.site, Podinit: []byte("podinit"), Cluster: w.cluster, Slurm: w.slurm,
		NewSession: w.newSession, SessionID: func() uint64 { return testSession },
		Random: func() float64 { return w.randomness }, Clock: clock.RealClock{}, Log: log,
	}
	for _, relay := range w.relays {
		config.Relays = append(config.Relays, relay)
	}
	w.step = New(config)
}

type stamped struct{ w *world }

func (f stamped) Format(e *logrus.Entry) ([]byte, error) {
	return fmt.Appendf(nil, "%9.3fs %s %v\n", f.w.since().Seconds(), e.Message, e.Data[logrus.ErrorKey]), nil
}

// live lives the step's whole life in its slurmstepd: Finish is called when all relays are
// gone, and the process ends when it returns. Then every rule is checked.
func (w *world) live() {
	w.make()
	w.began = time.Now()
	for _, begin := range w.timed {
		begin()
	}
	ran := make(chan struct{})
	go func() {
		defer close(ran)
		w.step.Run()
		w.ran = w.since()
	}()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for _, relay := range w.relays {
			<-relay.done
		}
	}()
	select {
	case <-gone:
	case <-time.After(stepLimit):
		w.kill()
		<-gone
	}
	w.exited = w.since()
	w.finish()
	// The process ends: what hangs does so no longer.
	close(w.over)
	select {
	case <-ran:
	case <-time.After(time.Hour):
		w.breaks("Run does not return")
	}
	w.check()
}

// finish is slurm_spank_exit.
func (w *world) finish() {
	ctx, cancel := context.WithTimeout(context.Background(), finishBound)
	defer cancel()
	begun := time.Now()
	left := w.step.Finish(ctx)
	if took := time.Since(begun); took > finishBound {
		w.breaks("Finish took %s", took)
	}
	select {
	case <-w.step.done:
	default:
		w.cut = true
		if left == "" && w.cluster.own() != "" {
			w.breaks("Finish says that nothing is left, but Run is not done")
		}
	}
	w.left = left
	w.cluster.checkLeft(left)
}

// cancel is scancel: TERM, and KILL after KillWait.
func (w *world) cancel(state string) {
	w.slurm.set(state)
	w.term()
	time.AfterFunc(killWait, w.kill)
}

func (w *world) term() {
	for _, relay := range w.relays {
		relay.signal(15)
	}
}

// kill is what Slurm's KILL does to the relays.
func (w *world) kill() {
	for _, relay := range w.relays {
		relay.vanish()
	}
}

// check asks every model for the rules that were broken at the end.
func (w *world) check() {
	if w.starts > 1 {
		w.breaks("START was sent %d times", w.starts)
	}
	for _, relay := range w.relays {
		relay.check()
	}
	w.slurm.check()
	if strings.Contains(w.log.String(), "panic") && !w.panicked() {
		w.breaks("a panic")
	}
}

func (w *world) panicked() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, queue := range w.faults {
		if slices.ContainsFunc(queue, func(f fault) bool { return f.panics }) {
			return true
		}
	}
	return slices.Contains(w.calls, "a panic is expected")
}

// trouble is all broken rules with what helps to find out why; "" for none.
func (w *world) trouble() string {
	if len(w.broken) == 0 {
		return ""
	}
	return fmt.Sprintf("broken rules:\n  %s\nleft: %q\ncalls: %s\nnotices:\n%s\nlog:\n%s",
		strings.Join(w.broken, "\n  "), w.left, strings.Join(w.calls, " "), w.notices(), w.log.String())
}

// bubble runs a life in a bubble: set prepares the world, see looks at it afterwards.
func bubble(t *testing.T, set func(w *world), see func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		set(w)
		w.live()
		if trouble := w.trouble(); trouble != "" {
			t.Fatal(trouble)
		}
		if see != nil {
			see(t, w)
		}
		if t.Failed() {
			t.Logf("calls: %s\nnotices:\n%s\nlog:\n%s", strings.Join(w.calls, " "), w.notices(), w.log.String())
		}
	})
}

// fakeRelay is one task's relay. It goes a millisecond after its Exit.
type fakeRelay struct {
	w       *world
	task    uint32
	signals chan stream.Signal
	done    chan struct{}
	hello   error
	env     []string

	gone    bool // with w.mu
	notices []string
	exits   []stream.Exit
	late    bool // it vanished before an Exit
}

func (r *fakeRelay) Hello(ctx context.Context) (stream.Launch, error) {
	launch := stream.Launch{Task: r.task, Argv: []string{"/spool/job7/slurm_script", "a"}, Env: append([]string{"A=1"}, r.env...), Script: []byte("#!/bin/sh\n")}
	launch.PullSecret = []byte(r.w.docker)
	err := r.w.call(ctx, "Hello", func() error { return r.hello })
	return launch, err
}

func (r *fakeRelay) Signals() <-chan stream.Signal { return r.signals }
func (r *fakeRelay) Done() <-chan struct{}         { return r.done }

func (r *fakeRelay) Notice(text string) {
	if text == "" || strings.ContainsAny(text, "\n") || !strings.HasPrefix(text, "slurm-k8s: ") {
		r.w.breaks("notice %q is not one line of ours", text)
	}
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	r.notices = append(r.notices, text)
}

func (r *fakeRelay) Exit(e stream.Exit) {
	r.w.mu.Lock()
	r.exits = append(r.exits, e)
	r.w.mu.Unlock()
	time.AfterFunc(time.Millisecond, r.leave)
}

func (r *fakeRelay) leave() {
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	if !r.gone {
		r.gone = true
		close(r.done)
	}
}

// vanish is a relay that dies before it was told how.
func (r *fakeRelay) vanish() {
	r.w.mu.Lock()
	if len(r.exits) == 0 {
		r.late = true
	}
	r.w.mu.Unlock()
	r.leave()
}

func (r *fakeRelay) signal(number uint32) {
	select {
	case r.signals <- stream.Signal{Number: number}:
	default:
	}
}

func (r *fakeRelay) check() {
	r.w.mu.Lock()
	exits, late := len(r.exits), r.late
	r.w.mu.Unlock()
	// After a panic the end is told again; the relay takes the first.
	if exits > 1 && !r.w.panicked() || exits == 0 && !late {
		r.w.breaks("relay %d got %d exits", r.task, exits)
	}
}

// slurmError is an error in slurmctld's own words.
type slurmError string

func (e slurmError) Error() string { return string(e) }

const (
	errSlurmDown      = slurmError("Unable to contact slurm controller")
	errSlurmFinal     = slurmError("Invalid job id specified")
	errSlurmPending   = slurmError("Job is pending execution")
	errSlurmNoRequeue = slurmError("Requested operation is presently disabled")
)

// fakeSlurm is slurmctld with the one job.
type fakeSlurm struct {
	w *world

	mu        sync.Mutex
	state     string
	requeue   bool
	asked     bool // what the user said about requeue
	comment   string
	begin     string
	restarts  int
	requeues  int
	memory    int
	stepEnds  int
	facts     []string // more of them
	refuseOOM bool
}

func newFakeSlurm(w *world) *fakeSlurm {
	return &fakeSlurm{w: w, state: "RUNNING", requeue: true, asked: true}
}

func (s *fakeSlurm) noRequeue() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requeue, s.asked = false, false
}

func (s *fakeSlurm) set(state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = state
}

func (s *fakeSlurm) requeued() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requeues
}

// record is what stands in AdminComment.
func (s *fakeSlurm) record() job.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	record, _ := job.ParseAdminComment(s.comment)
	return record
}

func (s *fakeSlurm) Facts(id uint32) (facts []string, err error) {
	err = s.w.call(context.Background(), "Facts", func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if id != testJob {
			return errSlurmFinal
		}
		requeue := map[bool]string{true: "1", false: "0"}[s.requeue]
		facts = append([]string{
			"user_id=1000", "group_id=1000", "cpus=1", "memory_mb=100", "state=" + s.state, "requeue=" + requeue,
			"admin_comment=" + s.comment, fmt.Sprintf("restart_count=%d", s.restarts), "time_limit=60",
		}, s.facts...)
		return nil
	})
	return facts, err
}

func (s *fakeSlurm) StepFacts(id, step uint32) (facts []string, err error) {
	if fmt.Sprint(step) != s.w.stepID {
		s.w.breaks("step %d", step)
	}
	err = s.w.call(context.Background(), "StepFacts", func() error {
		facts = []string{"tres=cpu=2,mem=400M,node=" + fmt.Sprint(s.w.nodes), "nodes=" + fmt.Sprint(s.w.nodes)}
		return nil
	})
	return facts, err
}

func (s *fakeSlurm) EndStep(id, step uint32) error {
	return s.w.call(context.Background(), "EndStep", func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.stepEnds++
		return nil
	})
}

func (s *fakeSlurm) Requeue(id uint32) error {
	return s.w.call(context.Background(), "Requeue", func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		switch {
		case s.state == "PENDING":
			return errSlurmPending
		case s.state != "RUNNING":
			return errSlurmFinal
		case !s.requeue:
			return errSlurmNoRequeue
		}
		s.requeues++
		s.state = "PENDING"
		s.w.checkRequeue()
		// Slurm ends the incarnation as it ends any job.
		time.AfterFunc(10*time.Millisecond, s.w.term)
		time.AfterFunc(killWait, s.w.kill)
		return nil
	})
}

func (s *fakeSlurm) Update(id uint32, fields []string) error {
	return s.w.call(context.Background(), "Update", func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, field := range fields {
			key, value, _ := strings.Cut(field, "=")
			switch key {
			case "admin_comment":
				s.w.checkComment(value)
				s.comment = value
			case "begin_time":
				s.begin = value
			case "requeue":
				s.requeue = value == "1"
			default:
				s.w.breaks("update of %q", field)
			}
		}
		return nil
	})
}

func (s *fakeSlurm) CompleteOutOfMemory(id uint32) error {
	return s.w.call(context.Background(), "CompleteOutOfMemory", func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.refuseOOM {
			return errSlurmFinal
		}
		s.memory++
		return nil
	})
}

func (s *fakeSlurm) Final(err error) bool {
	return errors.Is(err, errSlurmFinal) || errors.Is(err, errSlurmNoRequeue) || errors.Is(err, errSlurmPending)
}
func (s *fakeSlurm) NoRequeue(err error) bool { return errors.Is(err, errSlurmNoRequeue) }

// checkComment: AdminComment always parses, and is one of ours.
func (w *world) checkComment(text string) {
	var object map[string]any
	if err := json.Unmarshal([]byte(text), &object); err != nil || len(text) > job.MaxAdminComment || object["slurm-k8s"] == nil {
		w.breaks("AdminComment %q (%v)", text, err)
	}
}

// checkRequeue: a started job is requeued only when Kubernetes ended it.
func (w *world) checkRequeue() {
	w.mu.Lock()
	starts := w.starts
	w.mu.Unlock()
	if starts > 0 && !w.cluster.wasDisrupted() {
		w.breaks("the job was requeued after START, and not for a disruption")
	}
}

func (s *fakeSlurm) check() {
	s.mu.Lock()
	requeues, requeue, asked := s.requeues, s.requeue, s.asked
	s.mu.Unlock()
	if requeues > 1 {
		s.w.breaks("requeued %d times", requeues)
	}
	if requeue != asked && !s.w.updateFailed() && !s.w.cut {
		s.w.breaks("the job's requeue flag was left changed")
	}
}

// updateFailed tells whether an Update was made to fail: then what it was for is lost.
func (w *world) updateFailed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.calls, "Update") && w.faults["Update"] != nil
}

// fakeSession is the stream to podinit in the Pod of a name.
type fakeSession struct {
	w    *world
	dial stream.Dialer

	mu        sync.Mutex
	changed   chan struct{}
	linked    *fakePump // the present connection
	met       bool
	sent      bool
	over      bool // Run has ended
	detach    bool
	forwarded []uint32
	early     map[uint32]bool
	ends      []stream.Exit // of the tasks, as podinit knows
	delivered bool
}

func (w *world) newSession(id uint64, dial stream.Dialer) Session {
	if id != testSession {
		w.breaks("session %x", id)
	}
	s := &fakeSession{w: w, dial: dial, changed: make(chan struct{}), early: map[uint32]bool{}}
	w.mu.Lock()
	w.sessions = append(w.sessions, s)
	w.mu.Unlock()
	return s
}

// change changes the session and wakes who waits.
func (s *fakeSession) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *fakeSession) until(ctx context.Context, test func() bool) error {
	for {
		s.mu.Lock()
		done, over, changed := test(), s.over, s.changed
		s.mu.Unlock()
		switch {
		case done:
			return nil
		case over:
			return stream.ErrClosed
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (s *fakeSession) Run(ctx context.Context) error {
	defer s.change(func() { s.over, s.linked = true, nil })
	if err := s.w.call(ctx, "Run", func() error { return nil }); err != nil {
		return err
	}
	var readers sync.WaitGroup
	defer readers.Wait()
	reading, stop := context.WithCancel(ctx)
	defer stop()
	for _, relay := range s.w.relays {
		readers.Go(func() { s.read(reading, relay) })
	}
	for pause := 100 * time.Millisecond; ctx.Err() == nil; pause = min(2*pause, 5*time.Second) {
		s.mu.Lock()
		detach := s.detach
		s.mu.Unlock()
		if detach {
			return nil
		}
		pump, err := s.dial(ctx)
		if err == nil {
			if inside, ok := pump.(guestPump); ok {
				pump = inside.ReadWriteCloser
			}
			s.connected(ctx, pump.(*fakePump))
			pause = 100 * time.Millisecond
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// read takes the relay's signals over, once it is forwarded.
func (s *fakeSession) read(ctx context.Context, relay *fakeRelay) {
	if s.until(ctx, func() bool { return slices.Contains(s.forwarded, relay.task) }) != nil {
		return
	}
	for {
		select {
		case signal := <-relay.signals:
			s.Signal(relay.task, signal)
		case <-ctx.Done():
			return
		}
	}
}

// connected is the life of one pump.
func (s *fakeSession) connected(ctx context.Context, pump *fakePump) {
	s.change(func() { s.linked, s.met = pump, true })
	defer s.change(func() { s.linked = nil })
	for {
		s.mu.Lock()
		changed, detach := s.changed, s.detach
		s.delivered = s.delivered || s.ends != nil
		s.mu.Unlock()
		if detach {
			s.w.cluster.podinitEnds(pump.uid, 0)
			return
		}
		select {
		case <-pump.broken:
			return
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func (s *fakeSession) Connected(ctx context.Context) error {
	return s.w.call(ctx, "Connected", func() error { return s.until(ctx, func() bool { return s.met }) })
}

func (s *fakeSession) Start(ctx context.Context, launches []stream.Launch) error {
	return s.w.call(ctx, "Start", func() error {
		if len(launches) != len(s.w.relays) {
			s.w.breaks("START of %d tasks", len(launches))
		}
		if s.StartSent() {
			return nil // as podinit: the first one counts
		}
		s.w.starting()
		s.mu.Lock()
		s.sent = true
		s.mu.Unlock()
		time.AfterFunc(s.w.tasks.take, func() { s.end(s.w.tasks.exit) })
		for task, take := range s.w.tasks.early {
			time.AfterFunc(take, func() { s.change(func() { s.early[task] = true }) })
		}
		return nil
	})
}

// starting checks what must hold when START is sent.
func (w *world) starting() {
	w.mu.Lock()
	w.starts++
	w.mu.Unlock()
	if w.slurm.requeued() > 0 {
		w.breaks("START after the job was put back")
	}
	w.cluster.checkAlone()
}

// end is the end of all tasks; the first counts, and only while their container runs.
func (s *fakeSession) end(exit stream.Exit) {
	if s.w.tasks.mute || !s.w.cluster.runs() {
		return
	}
	s.change(func() {
		if s.ends == nil {
			s.ends = slices.Repeat([]stream.Exit{exit}, len(s.w.relays))
		}
		s.delivered = s.delivered || s.linked != nil
	})
}

func (s *fakeSession) StartSent() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent
}

func (s *fakeSession) Forward(task uint32) {
	s.change(func() { s.forwarded = append(s.forwarded, task) })
}

func (s *fakeSession) Signal(task uint32, signal stream.Signal) {
	if !s.StartSent() {
		s.w.breaks("signal %d before START", signal.Number)
	}
	s.w.mu.Lock()
	s.w.signals = append(s.w.signals, signal.Number)
	s.w.mu.Unlock()
	s.mu.Lock()
	linked := s.linked != nil
	s.mu.Unlock()
	if linked && (signal.Number == 9 || signal.Number == 15 && !s.w.tasks.traps) {
		time.AfterFunc(time.Millisecond, func() { s.end(stream.Exit{Status: signal.Number}) })
	}
}

func (s *fakeSession) Exit(ctx context.Context, task uint32) (exit stream.Exit, err error) {
	err = s.until(ctx, func() bool {
		exit = s.w.tasks.exit
		if s.delivered {
			exit = s.ends[task]
		}
		return s.delivered || s.early[task]
	})
	return exit, err
}

func (s *fakeSession) Exits(ctx context.Context) (exits []stream.Exit, err error) {
	err = s.w.call(ctx, "Exits", func() error {
		return s.until(ctx, func() bool { exits = slices.Clone(s.ends); return s.delivered })
	})
	if err != nil {
		return nil, err
	}
	return exits, nil
}

func (s *fakeSession) Detach(ctx context.Context) {
	_ = s.w.call(ctx, "Detach", func() error {
		s.change(func() { s.detach = true })
		return s.until(ctx, func() bool { return s.over })
	})
}

// fakePump is a connection to podinit in the Pod of this uid.
type fakePump struct {
	bytes.Buffer
	uid    string
	broken chan struct{}
}

func (p *fakePump) Close() error { return nil }
