// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"

	"github.com/sirupsen/logrus"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/stream"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// running is the goroutine that keeps a session's pump connected.
type running struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// runSession starts the session's goroutine; endSession ends it.
func (s *Step) runSession() {
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{cancel: cancel, done: make(chan struct{})}
	s.running = r
	session := s.connected
	go func() {
		defer close(r.done)
		defer recoverTo(s.Log)
		if err := session.Run(ctx); err != nil && ctx.Err() == nil {
			s.Log.WithError(err).Error("the stream to podinit ended")
		}
	}()
}

func (s *Step) endSession() {
	if s.running != nil {
		s.running.cancel()
		<-s.running.done
		s.running = nil
	}
}

// prepared makes what START carries of what the relays said: untrusted, so only what a
// task may decide itself is taken over.
func (s *Step) prepared() []stream.Launch {
	commands := s.offerCommands()
	launches := make([]stream.Launch, len(s.launches))
	devices, cpus := s.bindings()
	j := s.Job
	if s.pod != nil && s.pod.guest && !j.Joins() {
		j.Options.Join = wellknown.StepBatch
	}
	for i, launch := range s.launches {
		launch.Env = j.Rendezvous(j.Environment(launch.Env, s.record), s.addresses, s.Site.Rendezvous)
		launch.Env = append(launch.Env, devices[i]...)
		launch.CPUs = (*stream.CPUs)(cpus[i])
		launch.Home = s.Job.Home
		if directory := job.InsideDirectory(s.launches[i].Env); directory != "" {
			launch.Directory = directory
		}
		if s.Job.Options.Workdir != "" {
			launch.Directory, launch.Required = s.Job.Options.Workdir, true
		} else if s.pod != nil && podspec.OnVolume(s.pod.last, launch.Directory) {
			launch.Required = true
		}
		if s.Job.Options.Script != "" {
			launch.Script, launch.Argv = nil, append([]string{s.Job.Options.Script}, job.Arguments(launch.Argv)...)
		}
		launch.Commands = commands
		launches[i] = launch
	}
	return launches
}

// bindings are what of the step's devices and cpus Slurm has bound each task to.
func (s *Step) bindings() (devices [][]string, cpus []*job.CPUs) {
	cpus = make([]*job.CPUs, len(s.launches))
	for i := range s.launches {
		cpus[i] = (*job.CPUs)(s.launches[i].CPUs)
	}
	return s.devices(s.environments()), s.Job.Affinity(cpus)
}

// environments are those that Slurm gave to the tasks.
func (s *Step) environments() [][]string {
	environments := make([][]string, len(s.launches))
	for i := range s.launches {
		environments[i] = s.launches[i].Env
	}
	return environments
}

func (s *Step) devices(environments [][]string) [][]string {
	if s.pod == nil || !s.pod.guest {
		return s.Job.Devices(environments)
	}
	if s.pod.last.Labels[wellknown.LabelStep] == wellknown.StepBatch {
		return job.DevicesInside(environments, s.Job.NodeGPUs)
	}
	return job.DevicesInside(environments, podspec.GPUs(s.pod.last))
}

// offerCommands says to whoever runs Slurm's commands for the tasks what these may call, and
// gives the names. None where the site offers none, or the host has no place for them.
func (s *Step) offerCommands() []string {
	if s.Commands == nil {
		return nil
	}
	names := s.Site.Commands.Names()
	if len(names) == 0 {
		s.endCommands()
		return nil
	}
	s.Commands.Offer(stream.Offer{Commands: s.Site.Commands.Offered(), Path: s.Site.Commands.Path, Env: s.Job.Inside()})
	return names
}

func (s *Step) endCommands() {
	if s.Commands != nil {
		s.Commands.End()
	}
}

func recoverTo(log logrus.FieldLogger) {
	if r := recover(); r != nil {
		log.Errorf("panic: %v", r)
	}
}
