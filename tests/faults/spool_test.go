// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestDrainedBySpool(t *testing.T) {
	full := &hit{strike: &strike{kind: &faultKind{name: "spool-full"}}, from: time.Unix(100, 0), to: time.Unix(130, 0)}
	left := &hit{strike: full.strike, from: time.Unix(200, 0), to: time.Unix(230, 0), skipped: true}
	w := &world{hits: []*hit{full, left}}
	for text, test := range map[string]struct {
		at   int64
		want bool
	}{
		"node n2 is drained: batch job complete failure":  {110, true},
		"node n2 is draining: batch job complete failure": {120, true},
		"node n1 is drained: batch job complete failure":  {110, false},
		"node n2 is drained: Kill task failed":            {110, false},
		"node n2 is drained: batch job complete failure ": {140, false},
		"node n2 is drained:  batch job complete failure": {210, false},
		"job 7 is held (JobHeldAdmin)":                    {110, false},
	} {
		if got := w.drainedBySpool(text, time.Unix(test.at, 0)); got != test.want {
			t.Errorf("%q at %d: %v", text, test.at, got)
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
