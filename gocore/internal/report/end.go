// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strconv"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
)

// Verdict is how a started step ended.
type Verdict struct {
	// Disrupted: by no fault of the job's; it runs again where it allows that.
	Disrupted bool
	// OutOfMemory: the kernel killed for want of memory, as Slurm counts it: whatever the
	// task's own status is.
	OutOfMemory bool
	// Status is the wait status for tasks that podinit did not report.
	Status uint32
	// Reason is the user's line; "" for an ordinary end.
	Reason string
}

// Judge decides how a started step ended, of what podinit reported (the tasks' wait
// statuses, nil where it could not, and its count of OOM kills) and of the Pod's status.
// What Kubernetes did to the Pod goes before exit codes, but tasks that all ended well
// before it have ended well.
func Judge(r podstatus.Reading, statuses []uint32, oomKills uint32) Verdict {
	end := podstatus.End{Code: -1, NodeName: r.NodeName, Disruption: r.Disruption, Deleted: r.Deleting}
	if r.End != nil {
		end = *r.End
	}
	if statuses == nil && end.Report != nil {
		statuses, oomKills = []uint32{Sane(end.Report.Status)}, end.Report.OOMKills
	}
	v := Verdict{Status: ExitFor(end)}
	if end.Orphaned {
		v.Reason = line("", "the job's tasks were ended, since nobody on the Slurm node had spoken to their Pod for orphan_timeout")
		return v
	}
	told := statuses != nil
	switch {
	case told && oomKills > 0:
		v.OutOfMemory, v.Reason = true, OutOfMemory(oomKills)
	case told && allZero(statuses):
	case end.Disruption.Any():
		v.Disrupted, v.Reason = true, Disrupted(end)
	case end.Deadline:
		v.Reason = line(wordsOf(end.Words), "the Pod passed Kubernetes' own deadline for it")
	case told && end.Deleted:
		v.Reason = deleted
	case told:
	case end.OOM:
		v.OutOfMemory, v.Reason = true, OutOfMemory(1)
	case end.Deleted:
		v.Reason = deleted
	case r.StartFault != nil:
		v.Reason = CannotStart(r.StartFault)
	case end.Lost:
		v.Disrupted, v.Reason = true, containerLost(end)
	default:
		v.Reason = lost(end)
	}
	return v
}

const deleted = Tag + "the Pod was deleted by somebody else while the job ran"

// OutputCut: how the tasks ended is known by the Pod, and not by the stream that brings their output.
func OutputCut() string {
	return line("", "the connection to the Pod was lost before all output had come: the end of the output may be missing")
}

func allZero(statuses []uint32) bool {
	for _, s := range statuses {
		if s != 0 {
			return false
		}
	}
	return true
}

// OutOfMemory is the sentence of so many kills.
func OutOfMemory(kills uint32) string {
	processes := "a process"
	if kills > 1 {
		processes = strconv.FormatUint(uint64(kills), 10) + " processes"
	}
	return line("", "out of memory: the kernel killed %s of the job (ask for more by --mem)", processes)
}

// disruptions are Kubernetes' reasons of a DisruptionTarget, and kubelet's own.
var disruptions = map[string]string{
	"PreemptionByScheduler":  "the Pod was preempted by another of higher priority",
	"Preempting":             "the Pod was preempted by a critical one of its node",
	"DeletionByTaintManager": "the Pod was evicted from a Kubernetes node that is lost or was tainted",
	"EvictionByEvictionAPI":  "the Pod was evicted, as by a drain of its Kubernetes node",
	"DeletionByPodGC":        "the Pod's Kubernetes node is gone",
	"TerminationByKubelet":   "the Pod was ended by its Kubernetes node",
	"Evicted":                "the Pod was evicted by its Kubernetes node",
	"NodeLost":               "the Pod's Kubernetes node is lost",
	"Shutdown":               "the Pod's Kubernetes node was shut down",
	"NodeShutdown":           "the Pod's Kubernetes node was shut down",
	"Terminated":             "the Pod's Kubernetes node was shut down",
}

// Disrupted says what Kubernetes did to the Pod.
func Disrupted(e podstatus.End) string {
	sentence := disruptions[e.Disruption.Reason]
	if sentence == "" {
		sentence = "the Pod was ended by Kubernetes"
	}
	if e.NodeName != "" {
		return line(wordsOf(e.Disruption), "%s (node %s)", sentence, e.NodeName)
	}
	return line(wordsOf(e.Disruption), "%s", sentence)
}

// containerLost: a node that was started anew says so of what ran on it before.
func containerLost(e podstatus.End) string {
	return line(wordsOf(e.Words), "the Pod's Kubernetes node has lost its container, as when it is started anew (node %s)", e.NodeName)
}

// lost: the Pod ended, and nobody knows how its tasks did.
func lost(e podstatus.End) string {
	switch {
	case e.Signal != 0:
		return line(wordsOf(e.Words), "the Pod was killed by signal %d before it could say how the job ended", e.Signal)
	case e.Code >= 0:
		return line(wordsOf(e.Words), "the Pod ended with code %d before it could say how the job ended", e.Code)
	}
	return line(wordsOf(e.Words), "the Pod ended, and Kubernetes does not know how")
}

// Wait statuses, as of wait(2).
const (
	statusFailed = 1 << 8
	statusKilled = 9 // SIGKILL
	coreDumped   = 0x80
	lastSignal   = 64
)

// ExitFor is a Pod's end as a wait status: podinit's report first, then memory, then the
// container's own code. What nobody knows is 1.
func ExitFor(e podstatus.End) uint32 {
	switch {
	case e.Report != nil:
		return Sane(e.Report.Status)
	case e.OOM:
		return statusKilled
	case e.Signal > 0 && e.Signal <= lastSignal:
		return uint32(e.Signal)
	case e.Code >= 0 && e.Code <= 255:
		if e.Code == 0 && !e.Ran {
			return statusFailed
		}
		return uint32(e.Code) << 8
	}
	return statusFailed
}

// Sane is a wait status of an ended process; another number, which only a forged report
// has, becomes exit code 1.
func Sane(status uint32) uint32 {
	signal := status &^ coreDumped
	if status&^0xff00 == 0 || signal >= 1 && signal <= lastSignal {
		return status
	}
	return statusFailed
}
