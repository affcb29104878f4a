// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/gauge"
)

const (
	// idleScript does nothing at all, chattyScript writes a hundred lines of a hundred bytes a second.
	idleScript   = "echo ready; exec sleep 100000"
	chattyScript = "echo ready; while sleep 0.01; do echo 0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789; done"
	// looks at the memory, in equal parts of the time.
	looks = 20
)

// steadyJob is one that runs beside others for the whole time.
type steadyJob struct {
	name, against string
	args          []string
	pid           int
	cpu           float64 // at the begin
	first, last   gauge.Memory
}

// memory looks at the slurmstepds of four jobs that run at the same time, for long, and at what the programs weigh at their start.
func (b *bench) memory() (lines gauge.Lines, err error) {
	jobs := []*steadyJob{
		{name: "plain Slurm, idle", args: []string{"--wrap", idleScript}},
		{name: "slurm-k8s, idle", against: "plain Slurm, idle", args: append(inPod(benchImage()), "--wrap", idleScript)},
		{name: "plain Slurm, 100 lines a second", args: []string{"--wrap", chattyScript}},
		{name: "slurm-k8s, 100 lines a second", against: "plain Slurm, 100 lines a second", args: append(inPod(benchImage()), "--wrap", chattyScript)},
	}
	for _, job := range jobs {
		id, err := b.sbatch(append(job.args, "--time=UNLIMITED")...)
		if err != nil {
			return lines, err
		}
		defer b.cancel(id)
		if err := b.ready(id); err != nil {
			return lines, err
		}
		pids := stepProcesses(id)
		if len(pids) != 1 {
			return lines, fmt.Errorf("%s: job %s has %d slurmstepds", job.name, id, len(pids))
		}
		job.pid = pids[0]
	}
	begun := time.Now()
	for _, job := range jobs {
		job.cpu, job.first = gauge.CPU(job.pid), gauge.MemoryOf(job.pid)
	}
	for range looks {
		gauge.Rate(b.steady / looks)
		for _, job := range jobs {
			if err := job.look(&lines); err != nil {
				return lines, err
			}
		}
	}
	against := func(job *steadyJob, of string) string {
		if job.against == "" {
			return ""
		}
		return "slurmstepd of " + job.against + of
	}
	for _, job := range jobs {
		of := "slurmstepd of " + job.name
		worked := gauge.CPU(job.pid) - job.cpu
		lines.Add(of+": CPU in an hour", "s", against(job, ": CPU in an hour"), worked/time.Since(begun).Hours())
		lines.Add(fmt.Sprintf("%s: anonymous memory after %s, more than at the begin", of, b.steady), "MB", "", job.last.Anonymous-job.first.Anonymous)
	}
	return lines, b.programs(&lines)
}

func (job *steadyJob) look(lines *gauge.Lines) error {
	job.last = gauge.MemoryOf(job.pid)
	threads, err := gauge.Threads(job.pid)
	if err != nil || job.last.Anonymous == 0 {
		return fmt.Errorf("%s: its slurmstepd is gone: %w", job.name, err)
	}
	against := func(of string) string {
		if job.against == "" {
			return ""
		}
		return "slurmstepd of " + job.against + of
	}
	of := "slurmstepd of " + job.name
	lines.Add(of+": anonymous memory", "MB", against(": anonymous memory"), job.last.Anonymous)
	lines.Add(of+": memory, its share of files included", "MB", against(": memory, its share of files included"), job.last.Share)
	lines.Add(of+": threads", "", against(": threads"), float64(threads))
	return nil
}
