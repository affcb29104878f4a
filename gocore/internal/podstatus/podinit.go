// SPDX-License-Identifier: Apache-2.0

package podstatus

import (
	"strconv"
	"strings"
)

// maxReport bounds the termination message (Kubernetes: 4 KiB).
const maxReport = 4096

// Report is what podinit leaves in the termination message for a core that comes late
// (podinit/report.c). The tasks can write there too, so it is untrusted.
type Report struct {
	// Told: there is a status.
	Told bool
	// Status is a task's as of wait(2): the first that failed, 0 when none did.
	Status uint32
	// OOMKills are processes that the kernel killed in the container for want of memory.
	OOMKills uint32
	// Orphaned: podinit ended the tasks since no core had spoken to it.
	Orphaned bool
	// NeverStarted: no order to start came; nothing of the user's has run.
	NeverStarted bool
}

// ParseReport reads lines of "task=N status=N oom=N ...", "orphaned" or "never started".
// Unknown words are skipped, so that podinit may be newer. False: it is no report.
func ParseReport(message string) (Report, bool) {
	if len(message) > maxReport {
		return Report{}, false
	}
	var r Report
	for line := range strings.Lines(message) {
		switch strings.TrimSpace(line) {
		case "orphaned":
			r.Orphaned = true
			continue
		case "never started":
			r.NeverStarted = true
			continue
		}
		status, oom, told, ok := taskLine(line)
		if !ok {
			return Report{}, false
		}
		if !told {
			continue
		}
		r.Told = true
		r.OOMKills = max(r.OOMKills, oom)
		if r.Status == 0 {
			r.Status = status
		}
	}
	r.NeverStarted = r.NeverStarted && !r.Told
	return r, r.Told || r.Orphaned || r.NeverStarted
}

// taskLine reads one task's; told: it has a status. Not ok: a number is none.
func taskLine(line string) (status, oom uint32, told, ok bool) {
	for _, word := range strings.Fields(line) {
		key, value, _ := strings.Cut(word, "=")
		if key != "status" && key != "oom" {
			continue
		}
		n, err := strconv.ParseUint(value, 10, 32)
		if err != nil {
			return 0, 0, false, false
		}
		if key == "status" {
			status, told = uint32(n), true
		} else {
			oom = uint32(n)
		}
	}
	return status, oom, told, true
}
