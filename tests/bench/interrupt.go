// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
)

// changes are what rows have changed of the cluster and not yet taken back. Who interrupts the bench gets them taken back.
type changes struct {
	mu   sync.Mutex
	list []*change
}

type change struct {
	what string
	undo func() error
}

// make changes something, and gives what takes it back: once, however often it is called. An interruption waits for the
// change to be whole; after one nothing more is changed, and the caller does not go on.
func (c *changes) make(what string, do, undo func() error) (back func() error, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := &change{what, undo}
	c.list = append(c.list, one) // before it is made: what fails halfway is taken back too
	return func() error { return c.takeBack(one) }, do()
}

// more changes what was made before once more, so that the same takes it back.
func (c *changes) more(do func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return do()
}

func (c *changes) takeBack(one *change) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.list, one)
	if i < 0 {
		return nil
	}
	c.list = slices.Delete(c.list, i, i+1)
	return one.undo()
}

// all takes back everything, the last change first, and says what it cannot.
func (c *changes) all() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.undoAll()
}

func (c *changes) undoAll() error {
	var errs []error
	for _, one := range slices.Backward(c.list) {
		if err := one.undo(); err != nil {
			errs = append(errs, fmt.Errorf("%s is not taken back: %w", one.what, err))
		}
	}
	c.list = nil
	return errors.Join(errs...)
}

// allowed does not return once the bench is interrupted: what would leave something behind asks it first.
func (c *changes) allowed() {
	c.mu.Lock()
	defer c.mu.Unlock()
}

// onInterrupt takes everything back when the bench is told to end, and ends it.
func (c *changes) onInterrupt() {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGINT, syscall.SIGTERM)
	go func() { // as long as the bench lives
		s := <-told
		fmt.Fprintf(os.Stderr, "bench: %s: taking back what was changed\n", s)
		c.mu.Lock() // and never given back
		if err := c.undoAll(); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
		os.Exit(128 + int(s.(syscall.Signal)))
	}()
}
