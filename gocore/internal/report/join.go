// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"
	"strings"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// What srun says of a step that joins a container.

// owner names whose container it is.
func owner(step string) string {
	if step == wellknown.StepBatch {
		return "the job's script"
	}
	return "step " + step
}

// NothingToJoin: the job's script, or the step, has no Pod on this Slurm node.
func NothingToJoin(job uint32, step, node string, elsewhere []string) string {
	slices.Sort(elsewhere)
	elsewhere = slices.Compact(elsewhere)
	switch {
	case len(elsewhere) > 0:
		return line("", "--k8s-join: %s of job %d has no Pod on Slurm node %s, but on %s: name that by -N1 -w NODE",
			owner(step), job, node, strings.Join(elsewhere, ", "))
	case step == wellknown.StepBatch:
		return line("", "--k8s-join: the script of job %d has no Pod: it does not run in one, or has not come so far yet (a step's container: --k8s-join=STEP)", job)
	}
	return line("", "--k8s-join: job %d has no step %s in a Pod (of its script: --k8s-join alone)", job, step)
}

// NotYours: the Pod is not of who asks.
func NotYours(pod string) string { return line("", "--k8s-join: Pod %s is another user's", pod) }

// JoinTooEarly: there is no container yet.
func JoinTooEarly(pod string, r podstatus.Reading) string {
	words := r.Unschedulable
	if words == "" {
		words = wordsOf(r.Waiting)
	}
	return line(words, "--k8s-join: the container of Pod %s has not started yet; try again when it has", pod)
}

// JoinTooLate: there is no container any more.
func JoinTooLate(pod string) string {
	return line("", "--k8s-join: Pod %s has ended or is about to", pod)
}

// CannotJoin: the container runs, and does not take the step.
func CannotJoin(pod string, err error) string {
	return line(err.Error(), "the container of Pod %s cannot be joined", pod)
}

// ContainerEnded: the container that the step was in has ended, and killed its tasks.
func ContainerEnded(pod string, r podstatus.Reading) string {
	var words podstatus.Words
	if r.End != nil {
		words = r.End.Words
	}
	if r.Disruption.Any() {
		words = r.Disruption
	}
	if words.Reason == "Completed" || words.Reason == "Error" { // of any ordinary end
		words = podstatus.Words{}
	}
	return line(wordsOf(words), "the container of Pod %s ended, and with it what had joined it", pod)
}

// ScriptWent: the Pod of the job's script, in which the step was to run, went away before.
func ScriptWent(pod string) string {
	return line("", "Pod %s of the job's script, in which the step runs, ended before the step's start", pod)
}

// InsideGone: the podinit that had joined the container is gone while the container runs on.
func InsideGone(pod string) string {
	return line("", "what held the step's tasks in Pod %s was killed there: how they ended is not known", pod)
}
