// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// judgeOutput: what each task wrote in a run is its numbers from 1 on without a gap, a line twice, or a stranger;
// of the last run all of them, where it ended well.
func (c *evidence) judgeOutput(deserved bool, say func(string, ...any)) {
	if c.outErr != nil && os.IsNotExist(c.outErr) {
		if len(c.runs) > 0 {
			say("has no output")
		}
		return
	}
	if c.hitBy("disk-output") {
		// What did not fit is lost; it must be told.
		if deserved && c.state != "CANCELLED" && c.gap(deserved) != "" && !c.told() {
			say("output is lost by a full disk, and nobody says so")
		}
		return
	}
	// What process 1 still had of it goes with that; how the tasks ended may be known all the same. Once evicted it has
	// kubelet's grace, of which 2 s are left to one that was cut off.
	lost := c.effect(deadly, forced, disrupted) && strings.Contains(c.err+c.out, "output may be missing")
	if gap := c.gap(deserved && c.state != "CANCELLED" && !lost); gap != "" {
		say("%s", gap)
	}
}

// gap says what is wrong with the output.
func (c *evidence) gap(whole bool) string {
	byTask := map[int][]string{}
	lines := strings.Split(c.out, "\n")
	cut := lines[len(lines)-1] // "" where the last line is whole
	for _, line := range lines[:len(lines)-1] {
		task := 0
		if c.kind.steps != "" {
			label, rest, found := strings.Cut(line, ": ")
			n, err := strconv.Atoi(strings.TrimSpace(label))
			if !found || err != nil {
				return fmt.Sprintf("%q has no task", shorten(line))
			}
			task, line = n, rest
		}
		byTask[task] = append(byTask[task], line)
	}
	if whole && cut != "" {
		return fmt.Sprintf("the output ends within a line (%q)", shorten(cut))
	}
	if whole && len(byTask) != c.kind.tasks {
		return fmt.Sprintf("%d of %d tasks have output", len(byTask), c.kind.tasks)
	}
	for task, lines := range byTask {
		if gap := c.gapOf(lines, whole); gap != "" {
			return fmt.Sprintf("output of task %d: %s", task, gap)
		}
	}
	return ""
}

// gapOf looks at one task's lines, of all runs that the file has.
func (c *evidence) gapOf(lines []string, whole bool) string {
	run, next, traps := -1, 1, 0
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "run "):
			n, err := strconv.Atoi(line[4:])
			if err != nil || n <= run && !c.effect(plain) {
				return fmt.Sprintf("line %d is %q after run %d", i+1, shorten(line), run)
			}
			run, next, traps = n, 1, 0
		case run < 0:
			return fmt.Sprintf("line %d is %q, before any run", i+1, shorten(line))
		case line == "TERM" && c.kind.name == "trap":
			traps++
		case line != strconv.Itoa(next) || c.kind.silent || traps > 0:
			return fmt.Sprintf("line %d is %q instead of %d (run %d)", i+1, shorten(line), next, run)
		default:
			next++
		}
	}
	if !whole {
		return ""
	}
	if last := c.runs[max(0, len(c.runs)-1):]; len(last) == 1 && run != last[0] {
		return fmt.Sprintf("it ends with run %d, not %d", run, last[0])
	}
	if !c.kind.silent && next-1 != c.size {
		return fmt.Sprintf("%d of %d lines", next-1, c.size)
	}
	return ""
}

func shorten(line string) string {
	if len(line) > 60 {
		return line[:60] + "..."
	}
	return line
}
