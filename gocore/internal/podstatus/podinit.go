// SPDX-License-Identifier: Apache-2.0

package podstatus

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
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
	// Usage is all tasks' together; nil: it does not say, or not once and clearly.
	Usage *job.Usage
}

// UsageOf is what podinit says that the tasks of a Pod used, once it has ended; else nil.
func UsageOf(pod *corev1.Pod) *job.Usage {
	if t := termination(containerStatus(pod)); t != nil {
		if report, ok := ParseReport(t.Message); ok && report.Told {
			return report.Usage
		}
	}
	return nil
}

// ParseReport reads lines of "task=N status=N oom=N ...", "usage ...", "orphaned" or "never started".
// Unknown words are skipped, so that podinit may be newer. False: it is no report.
func ParseReport(message string) (Report, bool) {
	if len(message) > maxReport {
		return Report{}, false
	}
	var r Report
	usages := 0
	for line := range strings.Lines(message) {
		if words := strings.Fields(line); len(words) > 0 && words[0] == "usage" {
			usages++
			r.Usage = usageLine(words[1:])
			continue
		}
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
	if usages > 1 {
		r.Usage = nil
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

// maxMicros bounds a time, maxPeak a memory: no tasks of a step reach them.
const (
	maxMicros = 1 << 56 // 2,000 years
	maxPeak   = 1 << 53 // 8 PiB
)

// usageLine reads "utime=N stime=N peak=N", microseconds and bytes; nil: it is not that.
func usageLine(words []string) *job.Usage {
	keys := []string{"utime=", "stime=", "peak="}
	limits := []uint64{maxMicros, maxMicros, maxPeak}
	numbers := make([]uint64, len(keys))
	if len(words) < len(keys) { // more are a newer podinit's
		return nil
	}
	for i, key := range keys {
		digits, found := strings.CutPrefix(words[i], key)
		n, err := strconv.ParseUint(digits, 10, 64)
		if !found || err != nil || n > limits[i] {
			return nil
		}
		numbers[i] = n
	}
	return &job.Usage{UserMS: numbers[0] / 1000, SystemMS: numbers[1] / 1000, PeakBytes: numbers[2]}
}
