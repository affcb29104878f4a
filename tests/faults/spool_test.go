// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestOfSpool(t *testing.T) {
	full := &hit{strike: &strike{kind: &faultKind{name: "spool-full"}}, from: time.Unix(100, 0), to: time.Unix(130, 0)}
	leftOut := &hit{strike: full.strike, from: time.Unix(200, 0), to: time.Unix(230, 0), skipped: true}
	w := &world{hits: []*hit{full, leftOut}}
	for _, test := range []struct {
		text string
		at   int64
		want bool
	}{
		{"node n2 is drained: SlurmdSpoolDir is full", 110, true},
		{"node n2 is draining: SlurmdSpoolDir is full", 120, true},
		{"job 7 is held (launch_failed_requeued_held)", 120, true},
		{"node n1 is drained: SlurmdSpoolDir is full", 110, false},
		{"node n2 is drained: Kill task failed", 110, false},
		{"job 7 is held (JobHeldAdmin)", 110, false},
		{"node n2 is drained: SlurmdSpoolDir is full", 140, false},
		{"node n2 is drained: SlurmdSpoolDir is full", 210, false},
		{"job 7 is held (launch_failed_requeued_held)", 140, false},
	} {
		if got := w.ofSpool(test.text, time.Unix(test.at, 0)); got != test.want {
			t.Errorf("%q at %d: %v", test.text, test.at, got)
		}
	}
}

func TestLongest(t *testing.T) {
	const longest = 4 * time.Second
	for _, s := range draw(rand.New(rand.NewPCG(3, 0)), 5, 200, time.Second, longest, faultKinds).strikes {
		if s.hold > max(longest, s.kind.low) || s.hold < s.kind.low {
			t.Errorf("%s lasts %s", s.kind.name, s.hold)
		}
	}
}
