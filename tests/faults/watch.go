// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// watch knows the newest record of each of the run's jobs, since Slurm forgets those that are over, and every
// moment at which a node was not fit or a job was held.
type watch struct {
	w    *world
	done chan struct{}
	over sync.WaitGroup

	mu      sync.Mutex
	records map[int]testcluster.Record
	history map[int][]string  // a line for each change
	ran     map[int]time.Time // first seen to run
	ended   map[int]time.Time
	trouble map[string]time.Time // nodes drained, jobs held: first seen
}

var ourName = regexp.MustCompile(`^faults-(\d+)$`)

func startWatch(w *world) *watch {
	v := &watch{w: w, done: make(chan struct{}), records: map[int]testcluster.Record{}, history: map[int][]string{},
		ran: map[int]time.Time{}, ended: map[int]time.Time{}, trouble: map[string]time.Time{}}
	v.over.Add(3)
	go v.every(2*time.Second, v.look)
	// What a site runs by a timer.
	go v.every(10*time.Second, func() { w.sizes.measure(w.lab.Dir) })
	go v.every(45*time.Second, func() { w.collect("") })
	return v
}

func (v *watch) every(pause time.Duration, what func()) {
	defer v.over.Done()
	for {
		select {
		case <-v.done:
			return
		case <-time.After(pause):
			what()
		}
	}
}

func (v *watch) stop() {
	close(v.done)
	v.over.Wait()
}

// look asks Slurm once; while its daemons are killed it has no answer.
func (v *watch) look() {
	records, err := testcluster.Records("")
	if err != nil {
		return
	}
	nodes, _ := testcluster.Run(20*time.Second, "sinfo", "-h", "-N", "-p", "main", "-o", "%N %T %E")
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, r := range records {
		id, _ := strconv.Atoi(r["JobId"])
		match := ourName.FindStringSubmatch(r["JobName"])
		if id == 0 || match == nil {
			continue
		}
		if _, known := v.history[id]; !known && !v.w.adopt(id, match[1]) {
			continue // of an earlier run
		}
		old := v.records[id]
		v.records[id] = r
		if old["JobState"] != r["JobState"] || old["Restarts"] != r["Restarts"] || old["Reason"] != r["Reason"] {
			v.history[id] = append(v.history[id], fmt.Sprintf("%6.1fs %s (%s) restarts %s exit %s on %s",
				time.Since(v.w.began).Seconds(), r["JobState"], r["Reason"], r["Restarts"], r["ExitCode"], r["NodeList"]))
		}
		// A start that failed is sooner over than it is looked for.
		if v.ran[id].IsZero() && (r["JobState"] != "PENDING" || r["Restarts"] != "0") {
			v.ran[id] = time.Now()
		}
		if testcluster.Terminal[r["JobState"]] {
			if v.ended[id].IsZero() {
				v.ended[id] = time.Now()
			}
		} else {
			delete(v.ended, id)
		}
		if strings.HasPrefix(r["Reason"], "JobHeld") || r["Reason"] == launchFailed {
			v.note("job %d is held (%s)", id, r["Reason"])
		}
	}
	for _, line := range strings.Split(strings.TrimSpace(nodes), "\n") {
		if f := strings.SplitN(line, " ", 3); len(f) == 3 && strings.Contains(f[1], "drain") {
			v.note("node %s is %s: %s", f[0], f[1], f[2])
		}
	}
}

func (v *watch) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if _, known := v.trouble[text]; !known {
		v.trouble[text] = time.Now()
	}
}

// adopt takes a job of this run's name; one that began before the run is another's.
func (w *world) adopt(id int, number string) bool {
	n, _ := strconv.Atoi(number)
	w.mu.Lock()
	defer w.mu.Unlock()
	order := w.placed[n]
	if order == nil || id <= w.lastBefore {
		return false
	}
	w.ids[id] = order
	return true
}

// record is the newest of a job; nil where Slurm has not shown it.
func (v *watch) record(id int) testcluster.Record {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.records[id]
}

// open are the jobs that have not ended, with their states; one more where Slurm does not answer.
func (v *watch) open() []string {
	v.look()
	v.mu.Lock()
	defer v.mu.Unlock()
	var open []string
	for id, r := range v.records {
		if !testcluster.Terminal[r["JobState"]] {
			open = append(open, fmt.Sprintf("%d %s %s", id, r["JobState"], r["Reason"]))
		}
	}
	return open
}

// running are the jobs that run now as far as Slurm has shown, by their ids.
func (v *watch) running() []int {
	v.mu.Lock()
	defer v.mu.Unlock()
	var ids []int
	for id, r := range v.records {
		if r["JobState"] == "RUNNING" {
			ids = append(ids, id)
		}
	}
	return ids
}
