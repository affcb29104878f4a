// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/report"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/stream"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// A step with --k8s-join runs inside another step's container: a second podinit is exec'ed
// there, and from then on all is as with a Pod of its own, but that the Pod is only looked at.

// liveInside is the life of such a step up to the end of its tasks. It waits for nothing:
// what is not there now is a fault.
func (s *Step) liveInside() outcome {
	limit := s.Clock.Now().Add(s.Site.StartLimit.Duration)
	pod, verdict := s.findHost(limit)
	if verdict != nil {
		return *verdict
	}
	s.visit(pod)
	if s.Job.Nodes < 2 {
		s.addresses = []string{pod.Status.PodIP}
	}
	if verdict := s.enter(limit); verdict != nil {
		return *verdict
	}
	return s.attend()
}

// findHost is the Pod to join. Where the job's cluster is not known each is asked, and not for long.
func (s *Step) findHost(limit time.Time) (pod *corev1.Pod, verdict *outcome) {
	if len(s.choices) == 0 {
		return s.hostIn(limit)
	}
	var first *outcome
	for _, name := range s.choices {
		if verdict = s.enterCluster(name); verdict == nil {
			pod, verdict = s.hostIn(s.Clock.Now().Add(seekLimit))
		}
		if verdict == nil || verdict.kind == abandoned {
			return pod, verdict
		}
		if first == nil {
			first = verdict
		}
	}
	return nil, first
}

// hostIn looks in the cluster that the step is in.
func (s *Step) hostIn(limit time.Time) (*corev1.Pod, *outcome) {
	pods, verdict := s.podsOf(s.Job.Options.Join, limit)
	if verdict != nil {
		return nil, verdict
	}
	pod, fault := s.choose(pods)
	if fault != "" {
		return nil, failed(fault)
	}
	return pod, nil
}

// podsOf are the Pods of a step of this run of the job, on all its nodes, as they are now.
func (s *Step) podsOf(step string, limit time.Time) ([]*corev1.Pod, *outcome) {
	j := s.Job
	j.Step = step
	like := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: podspec.Labels(j, s.Site)}}
	ctx, cancel := context.WithCancel(context.Background())
	found, done := make(chan []*corev1.Pod, 1), make(chan struct{})
	go func() {
		defer close(done)
		defer recoverTo(s.Log)
		s.Cluster.FollowStep(ctx, like, func(pods []*corev1.Pod) {
			select {
			case found <- pods:
			default: // the first are enough
			}
		}, func(err error) { s.Log.WithError(err).Info("the job's Pods cannot be seen; trying again") })
	}()
	defer func() {
		cancel()
		<-done
	}()
	late := s.Clock.NewTimer(limit.Sub(s.Clock.Now()))
	defer late.Stop()
	select {
	case pods := <-found:
		return pods, nil
	case <-late.C():
		return nil, failed(report.NoPeers(s.Site.StartLimit.Duration))
	case <-s.ctx.Done():
		return nil, s.interrupted()
	}
}

// choose is the Pod on this Slurm node whose container can be joined, or why there is none.
func (s *Step) choose(pods []*corev1.Pod) (*corev1.Pod, string) {
	step, here := s.Job.Options.Join, wellknown.LabelValue(s.Job.Node)
	var elsewhere []string
	for _, pod := range pods {
		if pod.Labels[wellknown.LabelStep] != step || podspec.IsSeat(pod) {
			continue
		}
		if node := pod.Labels[wellknown.LabelNode]; node != here {
			elsewhere = append(elsewhere, node)
			continue
		}
		r := podstatus.Read(pod)
		switch {
		case !s.owns(pod):
			return nil, report.NotYours(pod.Name)
		case r.Deleting || r.State >= podstatus.Terminated:
			return nil, report.JoinTooLate(pod.Name)
		case r.State != podstatus.Running:
			return nil, report.JoinTooEarly(pod.Name, r)
		}
		return pod, ""
	}
	return nil, report.NothingToJoin(s.Job.ID, step, s.Job.Node, elsewhere)
}

// owns: a process in the container runs as whom the Pod names, whoever asked for it.
func (s *Step) owns(pod *corev1.Pod) bool {
	user := pod.Spec.SecurityContext
	return user != nil && user.RunAsUser != nil && *user.RunAsUser == int64(s.Job.UID) &&
		user.RunAsGroup != nil && *user.RunAsGroup == int64(s.Job.GID)
}

// enter begins a podinit in the container and starts the tasks by it; nil: they run.
func (s *Step) enter(limit time.Time) *outcome {
	verdict := s.begun(limit)
	if verdict == nil {
		verdict = s.connect()
	}
	if verdict == nil || verdict.kind != putBack {
		return verdict
	}
	verdict.kind = faulty
	if s.containerOver() {
		verdict.reason = report.ContainerEnded(s.pod.last.Name, s.pod.reading())
	}
	return verdict
}

// begun execs the join until podinit has answered.
func (s *Step) begun(limit time.Time) *outcome {
	pod, pause := s.podName(), retryPause
	command := wellknown.JoinCommand(s.session, s.Site.OrphanTimeout.Duration, s.Site.StartLimit.Duration)
	for {
		err := s.whileThere(s.ctx, func(ctx context.Context) error { return s.Cluster.Join(ctx, pod, command) })
		switch {
		case err == nil:
			return nil
		case s.ctx.Err() != nil:
			return s.interrupted()
		case podstatus.ClassifyError(err) == podstatus.ClassFinal:
			return failed(report.CannotJoin(pod, err))
		case s.containerOver(), s.Clock.Now().After(limit):
			return returned(report.CannotJoin(pod, err))
		}
		s.Log.WithError(err).Info("the container could not be joined; trying again")
		if !s.wait(pause) {
			return s.interrupted()
		}
		pause = min(2*pause, retryPauseMax)
	}
}

func (s *Step) containerOver() bool {
	s.pod.catchUp()
	r := s.pod.reading()
	return r.Deleting || r.State >= podstatus.Terminated
}

// judgeInside: the tasks end by themselves, or are killed by the end of the container.
func (s *Step) judgeInside(exits []stream.Exit) outcome {
	o := outcome{kind: ended, exits: exits}
	for i := range exits {
		exits[i].Status = report.Sane(exits[i].Status)
	}
	over := s.containerOver()
	switch {
	case over && exits == nil:
		o.exits = s.sameExit(uint32(syscall.SIGKILL))
	case exits == nil:
		o.exits, o.reason = s.sameExit(1<<8), report.InsideGone(s.pod.last.Name)
		o.cut = !s.connected.OutputCame()
	}
	if over && (exits == nil || anyKilled(exits)) {
		o.reason = report.ContainerEnded(s.pod.last.Name, s.pod.reading())
	}
	return o
}

// nobodyListens is how podinit's pump ends (podinit/pump.c, EXIT_REFUSED) where the podinit that
// it was to find is no longer there. Process 1 cannot go but with its container; one beside it can.
const nobodyListens = 69

// pumpInside is a pump to a podinit that may be gone while the container runs on.
func (s *Step) pumpInside(ctx context.Context, pod string) (io.ReadWriteCloser, error) {
	pump, err := s.Cluster.Pump(ctx, pod, s.session)
	if err != nil {
		return nil, err
	}
	return guestPump{pump}, nil
}

type guestPump struct{ io.ReadWriteCloser }

func (p guestPump) Read(b []byte) (int, error) {
	n, err := p.ReadWriteCloser.Read(b)
	return n, goneBy(err)
}

func (p guestPump) Write(b []byte) (int, error) {
	n, err := p.ReadWriteCloser.Write(b)
	return n, goneBy(err)
}

// goneBy tells by the error of a pump that podinit is gone.
func goneBy(err error) error {
	var exit interface{ ExitStatus() int }
	if errors.As(err, &exit) && exit.ExitStatus() == nobodyListens {
		return fmt.Errorf("%w: %w", stream.ErrGone, err)
	}
	return err
}

// anyKilled tells whether a task died of KILL.
func anyKilled(exits []stream.Exit) bool {
	for _, exit := range exits {
		status := syscall.WaitStatus(exit.Status)
		if status.Signaled() && status.Signal() == syscall.SIGKILL {
			return true
		}
	}
	return false
}
