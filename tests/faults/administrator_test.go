// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"
)

func TestOfPlainSlurm(t *testing.T) {
	full := &hit{strike: &strike{kind: &faultKind{name: "spool-full"}}, from: time.Unix(100, 0), to: time.Unix(130, 0)}
	leftOut := &hit{strike: full.strike, from: time.Unix(200, 0), to: time.Unix(230, 0), skipped: true}
	killed := &hit{strike: &strike{kind: &faultKind{name: "slurmctld"}}, from: time.Unix(300, 0), to: time.Unix(330, 0)}
	w := &world{hits: []*hit{full, leftOut, killed}}
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
		{"node n1 is drained: Duplicate jobid", 310, true},
		{"job 7 is held (launch_failed_requeued_held)", 310, true},
		{"node n1 is drained: Duplicate jobid", 110, false},
		{"node n2 is drained: SlurmdSpoolDir is full", 310, false},
	} {
		if got := w.ofPlainSlurm(test.text, time.Unix(test.at, 0)); got != test.want {
			t.Errorf("%q at %d: %v", test.text, test.at, got)
		}
	}
}
