// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"flag"
	"strconv"
	"sync"
)

// turns lets scripts that run beside each other begin in their order, some at a time. Of tests that wait for their turn
// the testing package takes any.
type turns struct {
	mu      sync.Mutex
	changed *sync.Cond
	drawn   int // numbers
	free    int // this number and those below may run
}

// beside is for the scripts of TestScripts.
var beside *turns

// newTurns is called before the tests begin. It takes over -test.parallel, which then holds up nobody.
func newTurns() *turns {
	flag.Parse()
	t := &turns{free: 1}
	t.changed = sync.NewCond(&t.mu)
	if atATime, err := strconv.Atoi(flag.Lookup("test.parallel").Value.String()); err == nil {
		t.free = atATime
	}
	flag.Set("test.parallel", "1000")
	return t
}

// draw gives the next number.
func (t *turns) draw() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drawn++
	return t.drawn
}

// wait returns when it is the number's turn.
func (t *turns) wait(number int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for number > t.free {
		t.changed.Wait()
	}
}

// done lets the next one begin.
func (t *turns) done() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free++
	t.changed.Broadcast()
}
