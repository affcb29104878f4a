// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// What plain Slurm makes of some faults, and leaves to its administrator: a node drained for such a reason, a job held.
const (
	spoolIsFull = "SlurmdSpoolDir is full"
	// A slurmctld that was killed before it had saved that a job runs starts it again, and the job's slurmd refuses.
	duplicateJob = "Duplicate jobid"
	launchFailed = "launch_failed_requeued_held"
)

// plainDrains are the faults after which plain Slurm drains a node for that reason.
var plainDrains = map[string]string{spoolIsFull: "spool-full", duplicateJob: "slurmctld"}

// administer resumes such nodes and releases such jobs, until nothing was to be done for that long.
func (w *world) administer(quiet time.Duration) error {
	var err error
	last := time.Now()
	testcluster.Until(2*time.Minute, func() bool {
		var mended bool
		if mended, err = w.mendPlain(); mended {
			last = time.Now()
		}
		return err != nil || time.Since(last) >= quiet
	})
	return err
}

// mendPlain does what is to be done now; false: nothing. Plain Slurm leaves the empty script of a job that it could not
// launch for want of room, and would not launch the job there again while it is in the way.
func (w *world) mendPlain() (bool, error) {
	out, err := testcluster.Run(20*time.Second, "sinfo", "-h", "-N", "-p", "main", "-o", "%N %T %E")
	if err != nil {
		return false, err
	}
	mended := false
	for _, line := range strings.Split(out, "\n") {
		node, state, _ := strings.Cut(line, " ")
		if !strings.HasPrefix(state, "drain") || plainFault(state) == "" {
			continue
		}
		mended = true
		if _, err := testcluster.Run(20*time.Second, "scontrol", "update", "NodeName="+node, "State=RESUME"); err != nil {
			return true, err
		}
	}
	records, err := testcluster.Records("")
	if err != nil {
		return mended, err
	}
	for _, r := range records {
		if r["Reason"] != launchFailed {
			continue
		}
		mended = true
		if w.spool != nil {
			number, _ := strconv.Atoi(r["JobId"])
			if err := os.RemoveAll(filepath.Join(w.spool.dir, fmt.Sprintf("job%05d", number))); err != nil {
				return true, err
			}
		}
		if _, err := testcluster.Run(20*time.Second, "scontrol", "release", r["JobId"]); err != nil {
			return true, err
		}
	}
	return mended, nil
}

// plainFault is the fault for which plain Slurm gives that reason; "": none.
func plainFault(text string) string {
	for reason, fault := range plainDrains {
		if strings.Contains(text, reason) {
			return fault
		}
	}
	return ""
}

// ofPlainSlurm: the trouble is what plain Slurm makes of a fault, and came with one.
func (w *world) ofPlainSlurm(trouble string, at time.Time) bool {
	var faults []string
	switch {
	case strings.HasPrefix(trouble, "job ") && strings.Contains(trouble, launchFailed):
		faults = []string{"spool-full", "slurmctld"}
	case strings.HasPrefix(trouble, "node ") && strings.Contains(trouble, " is drain"):
		if fault := plainFault(trouble); fault != "spool-full" || strings.HasPrefix(trouble, "node "+spoolNode+" ") {
			faults = []string{fault}
		}
	}
	return slices.ContainsFunc(w.hits, func(h *hit) bool {
		return slices.Contains(faults, h.kind.name) && !h.skipped && at.After(h.from) && at.Before(h.to)
	})
}
