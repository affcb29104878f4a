// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"strings"
	"sync"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/stream"
)

// kind says how a step's life ended.
type kind int

const (
	ended     kind = iota // the tasks ended; exits say how
	faulty                // final: the job fails with the reason
	putBack               // never started: back to PENDING with a delay
	disrupted             // started, and ended by no fault of the job: requeued where it allows
	abandoned             // Slurm ends the step: cancelled, killed, finished
)

// outcome is one step's end.
type outcome struct {
	kind   kind
	exits  []stream.Exit
	reason string // the user's line; "" for an ordinary end
	memory bool   // the kernel killed for want of memory
	cut    bool   // the end is known by the Pod alone, and not all output has come
	cause  error  // of abandoned
	stays  bool   // of putBack: no other cluster is tried, an earlier run may be alive in this one
}

func failed(reason string) *outcome   { return &outcome{kind: faulty, reason: reason} }
func returned(reason string) *outcome { return &outcome{kind: putBack, reason: reason} }

// leftover is what could not be cleaned up; written by Run, read by Finish.
type leftover struct {
	mu   sync.Mutex
	what string
}

func (l *leftover) set(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.what = text
}

func (l *leftover) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.what
}

// fact is the value of a key in a vector of facts.
func fact(facts []string, key string) string {
	for _, f := range facts {
		if k, v, found := strings.Cut(f, "="); found && k == key {
			return v
		}
	}
	return ""
}
