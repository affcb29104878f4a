// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// evidence is all that is known of one job.
type evidence struct {
	*order
	id       int
	state    string
	exit     string    // CODE:SIGNAL
	comment  string    // AdminComment
	ran      time.Time // first seen to run
	ended    time.Time
	entries  []entry
	runs     []int // that have begun, in their order
	hits     []*hit
	out, err string
	outErr   error
	history  []string
}

func (w *world) evidence(id int, entries []entry) *evidence {
	r := w.watch.record(id)
	c := &evidence{order: w.order(id), id: id, state: r["JobState"], exit: r["ExitCode"], comment: r["AdminComment"], entries: entries}
	w.watch.mu.Lock()
	c.ran, c.ended, c.history = w.watch.ran[id], w.watch.ended[id], w.watch.history[id]
	w.watch.mu.Unlock()
	runs := map[int]bool{}
	for _, e := range entries {
		if e.event == "begin" {
			runs[e.run] = true
		}
	}
	c.runs = slices.Sorted(maps.Keys(runs))
	folder := "out"
	if c.kind.small {
		folder = "small"
	}
	out, err := os.ReadFile(filepath.Join(w.dir, folder, fmt.Sprintf("%s.%d.out", c.name(), id)))
	c.out, c.outErr = string(out), err
	text, _ := os.ReadFile(filepath.Join(w.dir, "out", fmt.Sprintf("%s.%d.err", c.name(), id)))
	w.mu.Lock()
	c.err = string(text) + w.said[c.order]
	w.mu.Unlock()
	for _, h := range w.hits {
		if !h.skipped && c.touched(h) {
			c.hits = append(c.hits, h)
		}
	}
	return c
}

// touched: the fault can have been felt by the job.
func (c *evidence) touched(h *hit) bool {
	if slices.Contains(h.reach.jobs, c.id) {
		return true
	}
	// The watch looks every few seconds, so each of its times is late.
	if !c.ended.IsZero() && c.ended.Before(h.from) || !c.ran.IsZero() && c.ran.After(h.to.Add(5*time.Second)) {
		return false
	}
	if h.reach.all {
		return true
	}
	if h.reach.node == "" {
		return false
	}
	for i, e := range c.entries {
		// Where it was when the fault came, or while it lasted.
		if e.node != h.reach.node || e.at.After(h.to) {
			continue
		}
		last := c.ended
		for _, later := range c.entries[i:] {
			if later.word == e.word && later.event == "end" {
				last = later.at
			} else if later.run > e.run {
				last = later.at
				break
			}
		}
		if last.IsZero() || last.After(h.from.Add(-time.Second)) {
			return true
		}
	}
	return false
}

// effect: one of the job's faults has it.
func (c *evidence) effect(which ...effect) bool {
	return slices.ContainsFunc(c.hits, func(h *hit) bool { return slices.Contains(which, h.kind.effect) })
}

func (c *evidence) hitBy(name string) bool {
	return slices.ContainsFunc(c.hits, func(h *hit) bool { return h.kind.name == name })
}

// told: the user or the administrator can read why.
func (c *evidence) told() bool {
	return strings.Contains(c.err, "slurm-k8s: ") || strings.Contains(c.out, "slurm-k8s: ") ||
		strings.Contains(c.comment, `"reason"`) || c.state == "NODE_FAIL"
}

// plainly: Slurm itself says why.
func (c *evidence) plainly() bool {
	return c.state == "NODE_FAIL" || strings.Contains(c.err, "srun: ") || strings.Contains(c.err, "slurmstepd: ")
}

func (c *evidence) String() string {
	var names []string
	for _, h := range c.hits {
		names = append(names, fmt.Sprintf("%d %s", h.number, h.kind.name))
	}
	last := ""
	if n := len(c.history); n > 0 {
		last = strings.Join(c.history[max(0, n-3):], "; ")
	}
	tail := strings.Split(strings.TrimSpace(c.err), "\n")
	return fmt.Sprintf("%s of %s, %s %s, runs %v, faults [%s], errors %q, comment %s; %s", c.name(), c.kind.name, c.state, c.exit, c.runs,
		strings.Join(names, ", "), tail[max(0, len(tail)-2):], c.comment, last)
}
