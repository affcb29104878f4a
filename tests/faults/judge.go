// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// judge holds a job to the state it deserves, its processes to once and never two runs at a time, and its output to order.
func (c *evidence) judge(r *report) {
	var wrong []string
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	deserved := c.deserved()
	if !deserved {
		if why := c.unexplained(); why != "" {
			say("%s", why)
		}
	}
	c.judgeLedger(deserved, say)
	c.judgeOutput(deserved, say)
	if len(wrong) > 0 {
		r.add(c.id, "%s (%s)", strings.Join(wrong, "; "), c)
	}
}

// deserved: it ended as it would have without any fault.
func (c *evidence) deserved() bool {
	if c.kind.cancelled && c.state == "CANCELLED" {
		return true
	}
	if c.code == 0 {
		return c.state == "COMPLETED" && c.exit == "0:0"
	}
	return c.state == "FAILED" && c.exit == fmt.Sprintf("%d:0", c.code)
}

// unexplained says what is wrong with another end than the deserved one; "" where a fault explains it and it is told.
func (c *evidence) unexplained() string {
	script := c.kind.steps == "" // the script itself is in the Pod
	switch {
	case c.state == "":
		return "Slurm does not know it any more"
	// See noticeLost. Where slurmctld was away as slurmd registered, plain Slurm notices at the time limit.
	case c.hitBy("kill-stepd") && (c.state == "CANCELLED" || c.state == "TIMEOUT"):
		return ""
	case !slices.Contains([]string{"FAILED", "NODE_FAIL", "CANCELLED", "OUT_OF_MEMORY"}, c.state):
		return "has not ended"
	case c.effect(killed) && strings.HasPrefix(c.state, "FAILED") && (strings.HasSuffix(c.exit, ":9") || strings.HasPrefix(c.exit, "137:") || strings.HasPrefix(c.exit, "9:")):
		return ""
	case c.kind.name == "trap" && c.exit == "9:0" && strings.Contains(c.out, "TERM") && c.effect(deadly, forced, disrupted):
		return ""
	case c.effect(deadly, forced):
		if !c.told() && !c.plainly() {
			return "ended by a fault, and nobody says why"
		}
		return ""
	case c.effect(disrupted) && script && c.kind.requeue:
		return "may be requeued, and was not run again after a disruption"
	case c.effect(disrupted):
		if !c.told() {
			return "ended by a disruption, and nobody says why"
		}
		return ""
	case c.effect(killed) && !script: // srun says it of its task
		return ""
	case c.effect(plain) && (c.state == "NODE_FAIL" && !c.kind.requeue || !script && c.plainly()):
		return ""
	case c.hitBy("spool-full") && c.state == "CANCELLED" && !c.kind.requeue && len(c.runs) == 0: // see fillSpool
		return ""
	}
	return "ended as no fault explains"
}

// life is one process of the job as the ledger has it.
type life struct {
	begin, last, end time.Time
}

// judgeLedger: each task of a run begins once and, in the last one, ends once; the next run begins after everything of the one before.
func (c *evidence) judgeLedger(deserved bool, say func(string, ...any)) {
	type place struct {
		run, task int
		step      string
	}
	words := map[place]map[string]*life{}
	firsts, lasts := map[int]time.Time{}, map[int]time.Time{}
	finished := map[int]int{}
	for _, e := range c.entries {
		at := place{e.run, e.task, e.step}
		if words[at] == nil {
			words[at] = map[string]*life{}
		}
		one := words[at][e.word]
		if one == nil {
			one = &life{}
			words[at][e.word] = one
		}
		one.last = e.at
		switch e.event {
		case "begin":
			one.begin = e.at
		case "end":
			one.end = e.at
			finished[e.run]++
		}
		if firsts[e.run].IsZero() {
			firsts[e.run] = e.at
		}
		lasts[e.run] = e.at
	}
	for at, processes := range words {
		if len(processes) > 1 && !c.lostStart(firsts[at.run]) {
			say("run %d, step %s, task %d was begun by %d processes", at.run, at.step, at.task, len(processes))
		}
		for word, one := range processes {
			if one.begin.IsZero() {
				say("run %d, task %d (%s) has no begin", at.run, at.task, word)
			}
		}
	}
	for i := 1; i < len(c.runs); i++ {
		before, run := c.runs[i-1], c.runs[i]
		if lasts[before].After(firsts[run]) && !c.effect(forced) {
			say("run %d was alive %s after run %d had begun", before, lasts[before].Sub(firsts[run]).Round(time.Millisecond), run)
		}
		if finished[before] >= c.kind.tasks && !c.effect(deadly, forced, killed, disrupted, plain) {
			say("run %d had ended, and was followed by run %d", before, run)
		}
	}
	for i, run := range c.runs {
		if run != i && !c.effect(plain) && !c.hitBy("kill-stepd") {
			say("its runs are numbered %v", c.runs)
			break
		}
	}
	if !deserved || c.state == "CANCELLED" {
		return
	}
	if len(c.runs) == 0 {
		say("ended well and never began")
		return
	}
	if c.kind.tasks > 1 && c.effect(deadly, forced, disrupted) && c.told() {
		return // srun's code is the highest: one task's hides that another was lost, which is told
	}
	if last := c.runs[len(c.runs)-1]; finished[last] != c.kind.tasks {
		say("%d of the %d tasks of its last run told their ends", finished[last], c.kind.tasks)
	}
}

// lostStart: slurmctld was killed before it had saved that the job runs; plain Slurm starts it again as the same run.
func (c *evidence) lostStart(begun time.Time) bool {
	return slices.ContainsFunc(c.hits, func(h *hit) bool {
		return h.kind.name == "slurmctld" && begun.Before(h.from.Add(time.Second)) && begun.After(h.from.Add(-8*time.Second))
	})
}
