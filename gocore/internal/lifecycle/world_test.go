// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
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
	docker   string // what the relay reads of --k8s-pull-secret
	site     *site.Config
	stepID   string
	options  job.Options
	nodes    int // of the step
	nodeID   int // of this one among them
	cluster  *fakeCluster
	other    *fakeCluster     // the second one, where the site names two
	placed   []string         // clusters to which START went
	unopened map[string]error // clusters whose credential is bad
	slurm    *fakeSlurm
	turns    *fakeTurns
	relays   []*fakeRelay
	step     *Step
	tasks    tasks  // what the tasks in the Pod do
	fault    string // of the configuration
	log      bytes.Buffer

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
	came  bool                     // all their output has, and no end
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
	w.turns = &fakeTurns{w: w}
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
		if strings.HasSuffix(name, "CreatePod") || f.done {
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
	for _, call := range []string{"MakeNamespace", "EnsurePodinit", "CreatePod", "GetPod", "DeletePod", "Follow", "Events", "Shapes", "Pump", "Join"} {
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
		Fault: w.fault, Site: w.site, Podinit: []byte("podinit"), Cluster: w.cluster, Slurm: w.slurm, Turns: w.turns,
		NewSession: w.newSession, SessionID: func() uint64 { return testSession },
		Random: func() float64 { return w.randomness }, Clock: clock.RealClock{}, Log: log,
	}
	if w.other != nil {
		config.Cluster, config.Open = nil, w.open
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
