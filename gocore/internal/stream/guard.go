// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"fmt"
	"runtime/debug"
)

// guard calls f and makes a panic of it an error: nothing in this package may
// kill slurmstepd.
func guard(what string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("stream: panic in %s: %v\n%s", what, p, debug.Stack())
		}
	}()
	return f()
}

// bell wakes one goroutine; ringing it twice before it is heard is ringing it once.
type bell chan struct{}

func newBell() bell { return make(bell, 1) }

func (b bell) ring() {
	select {
	case b <- struct{}{}:
	default:
	}
}
