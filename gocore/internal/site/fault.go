// SPDX-License-Identifier: Apache-2.0

package site

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Fault is one thing that is wrong with the file.
type Fault struct {
	Line int    // from 1; 0: not known, or of the file as a whole
	Key  string // with its path, "gate.wait"; empty: of the file as a whole
	Text string
}

// Error is the fault in one line, without its number.
func (f Fault) Error() string {
	if f.Key == "" {
		return f.Text
	}
	return f.Key + ": " + f.Text
}

// At is the fault as a compiler says it: FILE:LINE: KEY: TEXT.
func (f Fault) At(path string) string {
	if f.Line == 0 {
		return path + ": " + f.Error()
	}
	return fmt.Sprintf("%s:%d: %s", path, f.Line, f.Error())
}

// located puts the line before a fault.
type located Fault

// Error implements error.
func (f located) Error() string {
	if f.Line == 0 {
		return Fault(f).Error()
	}
	return fmt.Sprintf("line %d: %s", f.Line, Fault(f).Error())
}

// sorted are the faults in the order of their lines; those of no line come first.
func sorted(all []Fault) []Fault {
	slices.SortStableFunc(all, func(a, b Fault) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return strings.Compare(a.Key, b.Key)
	})
	return slices.Compact(all)
}

// faultsOf takes a joined error apart.
func faultsOf(err error) []Fault {
	if err == nil {
		return nil
	}
	var many interface{ Unwrap() []error }
	if errors.As(err, &many) {
		var all []Fault
		for _, one := range many.Unwrap() {
			all = append(all, faultsOf(one)...)
		}
		return all
	}
	var one Fault
	if errors.As(err, &one) {
		return []Fault{one}
	}
	return []Fault{{Text: err.Error()}}
}
