// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"cmp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/stream"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

const (
	// usageLimit is how long the end of a step may wait for Slurm to take what it used.
	usageLimit = 2 * time.Second
	usagePause = 500 * time.Millisecond
)

// note makes the record of a step that has started. One node of the step speaks for it: Slurm
// has no way to add to AdminComment, so nodes would overwrite each other's.
func (s *Step) note(exits []stream.Exit) {
	if !s.started.Load() || s.Job.NodeID != 0 || s.pod == nil {
		return
	}
	usage, counted := s.usageOfNodes(exits)
	pod := s.pod.last
	image, id := imageOf(pod)
	s.used = &job.StepRecord{
		Step: s.Job.Step, Component: s.Job.Component, Restarts: s.Job.Restarts, Nodes: s.Job.Nodes,
		NodesCounted: counted, Pod: pod.Name, Node: pod.Spec.NodeName, Image: image, ImageID: id, Usage: usage,
	}
	if s.Job.IsBatch() {
		s.record.Steps = append(s.record.Steps, *s.used)
	}
}

// keepUsage writes the record, unless it went with a reason. slurmctld refuses it once the job is
// over, so it comes before the relays' exit; nothing depends on it, so they do not wait long.
func (s *Step) keepUsage() {
	if s.used == nil {
		return
	}
	used, record := *s.used, s.record
	s.used = nil
	written := make(chan struct{})
	s.writing.Go(func() {
		defer recoverTo(s.Log)
		record, err := s.writeUsage(record, used)
		close(written)
		if s.Slurm.Ended(err) {
			err = s.amend(record)
		}
		if err != nil {
			s.Log.WithError(err).Info("Slurm did not take what the step used")
		}
	})
	late := s.Clock.NewTimer(usageLimit)
	defer late.Stop()
	select {
	case <-written:
	case <-late.C():
		s.Log.Infof("Slurm has not taken what the step used for %s; the step ends meanwhile", usageLimit)
	}
}

// writeUsage tries again only for as long as the step's end waits. In a goroutine of its own.
func (s *Step) writeUsage(record job.Record, used job.StepRecord) (job.Record, error) {
	late := s.Clock.Now().Add(usageLimit)
	for {
		whole, err := s.tryUsage(record, used)
		if err == nil || s.Slurm.Final(err) || s.Clock.Now().Add(usagePause).After(late) {
			return whole, err
		}
		s.Clock.Sleep(usagePause)
	}
}

// tryUsage gives the whole record, too.
func (s *Step) tryUsage(record job.Record, used job.StepRecord) (job.Record, error) {
	if s.numbered { // the job's other steps write there, too
		facts, err := s.Slurm.Facts(s.id)
		if err != nil {
			return record, err
		}
		namespace := record.Namespace
		record, record.Foreign = job.ParseAdminComment(fact(facts, "admin_comment"))
		if s.Site.Kubernetes == "" { // else it goes with the cluster
			record.Namespace = cmp.Or(record.Namespace, namespace)
		}
		record.Steps = append(record.Steps, used)
	} else if s.startedSteps() {
		if err := s.takeSteps(&record, &used); err != nil {
			return record, err
		}
	}
	return record, s.Slurm.Update(s.id, []string{"admin_comment=" + record.Encode()})
}

// startedSteps: the script called Slurm's commands, so that steps of srun may have written
// what they used since the job's start.
func (s *Step) startedSteps() bool { return s.Commands != nil && s.Commands.Called() }

// takeSteps takes over what the job's steps have written, and adds the script's own, if any.
func (s *Step) takeSteps(record *job.Record, used *job.StepRecord) error {
	facts, err := s.Slurm.Facts(s.id)
	if err != nil {
		return err
	}
	fresh, foreign := job.ParseAdminComment(fact(facts, "admin_comment"))
	record.Steps, record.Foreign = fresh.Steps, foreign
	if used != nil {
		record.Steps = append(record.Steps, *used)
	}
	return nil
}

// sum is this node's tasks' usage; nil where the Pod ended before podinit could report.
func sum(exits []stream.Exit) *job.Usage {
	var usage job.Usage
	for _, exit := range exits {
		usage.Add(job.Usage{UserMS: exit.UserMicros / 1000, SystemMS: exit.SystemMicros / 1000, PeakBytes: exit.PeakBytes})
	}
	if usage.PeakBytes == 0 { // a process that ran has used memory
		return nil
	}
	return &usage
}

// imageOf is the Pod's image with the digest that its node pulled. An image that was not
// pulled has an id on that node alone.
func imageOf(pod *corev1.Pod) (image, id string) {
	for _, container := range pod.Spec.Containers {
		if container.Name == wellknown.ContainerName {
			image = container.Image
		}
	}
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name != wellknown.ContainerName {
			continue
		}
		_, digest, pulled := strings.Cut(status.ImageID, "@")
		if !pulled {
			return image, status.ImageID
		}
		image, _, _ = strings.Cut(image, "@")
		return image + "@" + digest, ""
	}
	return image, ""
}
