// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"sync"
	"time"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
)

// fakeTurns are the turns of the Slurm node. A turn that is kept beyond the life is a broken rule.
type fakeTurns struct {
	w     *world
	fault error

	mu    sync.Mutex
	other *podspec.Turn // another job's
	own   *podspec.Turn
	took  []time.Duration // when the step took its own
	gave  []time.Duration
}

func (f *fakeTurns) Take(_ string, turn podspec.Turn) (func(), error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.fault != nil || f.other != nil:
		return nil, f.fault
	case f.own != nil:
		f.w.breaks("the turn is taken twice")
	}
	f.own = &turn
	f.took = append(f.took, f.w.since())
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.own = nil
		f.gave = append(f.gave, f.w.since())
	}, nil
}

func (f *fakeTurns) Current(string) (*podspec.Turn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.own != nil {
		return f.own, f.fault
	}
	return f.other, f.fault
}

// theirs makes it another job's turn, or nobody's.
func (f *fakeTurns) theirs(turn *podspec.Turn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.other = turn
}
