// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// report is what an audit found.
type report struct {
	findings []string
	figures  []string
}

func (r *report) add(job int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if job != 0 {
		text = fmt.Sprintf("job %d: %s", job, text)
	}
	r.findings = append(r.findings, text)
}

func (r *report) print(to io.Writer) {
	for _, line := range r.figures {
		fmt.Fprintln(to, line)
	}
	for _, line := range r.findings {
		fmt.Fprintln(to, "FINDING", line)
	}
}

// audit judges the run, once every fault is undone and the jobs have had their time.
func (w *world) audit() *report {
	r := &report{findings: w.found}
	for _, left := range w.awaitNothingLeft() {
		r.add(0, "left behind: %s", left)
	}
	w.watch.look()
	w.ledger.mu.Lock()
	for _, line := range w.ledger.bad {
		r.add(0, "the ledger got %q", line)
	}
	w.ledger.mu.Unlock()
	byJob := map[int][]entry{}
	for _, e := range w.ledger.all() {
		byJob[e.job] = append(byJob[e.job], e)
	}
	for id := range byJob {
		if w.order(id) == nil {
			r.add(id, "reported to the ledger, and Slurm never showed it")
		}
	}
	w.mu.Lock()
	ids := slices.Sorted(maps.Keys(w.ids))
	w.mu.Unlock()
	states := map[string]int{}
	submitted := map[*order]bool{}
	jobs, runs, well, touched := 0, 0, 0, 0
	for _, id := range ids {
		c := w.evidence(id, byJob[id])
		submitted[c.order] = true
		if w.unjudged(c) {
			continue
		}
		states[c.order.kind.name+" "+c.state]++
		jobs++
		runs += len(c.runs)
		if c.deserved() {
			well++
		}
		if len(c.hits) > 0 {
			touched++
		}
		c.judge(r)
	}
	for o := range w.taken {
		if !submitted[o] {
			r.add(0, "%s was taken and Slurm never showed it", o.name())
		}
	}
	for text, at := range w.watch.trouble {
		if w.ofPlainSlurm(text, at) {
			continue
		}
		r.add(0, "%s, %.1f s after the begin", text, at.Sub(w.began).Seconds())
	}
	for _, text := range w.badNodes() {
		r.add(0, "at the end %s", text)
	}
	w.sizes.measure(w.lab.Dir)
	w.sizes.judge(r)
	r.figures = append(r.figures, fmt.Sprintf("%d jobs, %d runs of theirs, %d lines of the ledger, in %s", jobs, runs, len(w.ledger.all()), time.Since(w.began).Round(time.Second)),
		fmt.Sprintf("%d jobs were in reach of a fault; %d ended as without one", touched, well))
	if jobs < len(ids) {
		r.figures = append(r.figures, fmt.Sprintf("%d jobs had not ended as the run was broken off, and are not judged", len(ids)-jobs))
	}
	for _, key := range slices.Sorted(maps.Keys(states)) {
		r.figures = append(r.figures, fmt.Sprintf("  %-28s %d", key, states[key]))
	}
	r.figures = append(r.figures, w.faultFigures()...)
	return r
}

// unjudged: the run was broken off before the job had ended.
func (w *world) unjudged(c *evidence) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.broken.IsZero() && (c.ended.IsZero() || !c.ended.Before(w.broken))
}

func (w *world) faultFigures() []string {
	done, skipped := map[string]int{}, map[string]int{}
	sum := 0
	for _, h := range w.hits {
		if h.skipped {
			skipped[h.kind.name]++
		} else {
			done[h.kind.name]++
			sum++
		}
	}
	lines := []string{fmt.Sprintf("%d faults, %d left out for want of somebody to hit", sum, len(w.hits)-sum)}
	for _, k := range faultKinds {
		if n := done[k.name]; n > 0 {
			lines = append(lines, strings.TrimRight(fmt.Sprintf("  %-28s %d", k.name, n), " "))
		}
	}
	return lines
}
