// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/gauge"
	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// slurmRun is one batch job from its submission to its end as the logs tell them: asking slurmctld would cost it more than the job.
type slurmRun struct {
	id     string
	begun  time.Time
	ended  time.Time // slurmctld has taken the job's end
	stepd  time.Time // slurmstepd's first line
	daemon *gauge.Log
	nodes  []*gauge.Log
}

// begin submits a job.
func (b *bench) begin(args ...string) (*slurmRun, error) {
	r := &slurmRun{}
	var err error
	if r.daemon, err = gauge.MarkLog(filepath.Join(b.lab.Dir, "log/slurmctld.log")); err != nil {
		return nil, err
	}
	for _, node := range []string{"n1", "n2"} {
		log, err := gauge.MarkLog(filepath.Join(b.lab.Dir, "log/slurmstepd-"+node+".log"))
		if err != nil {
			return nil, err
		}
		r.nodes = append(r.nodes, log)
	}
	r.begun = time.Now()
	r.id, err = b.sbatch(args...)
	return r, err
}

// end waits for it, to a hundredth of a second, and wants it COMPLETED.
func (r *slurmRun) end(b *bench) error {
	if _, err := r.daemon.Await(3*time.Minute, "JobId="+r.id+" done"); err != nil {
		return err
	}
	r.ended = time.Now()
	if err := b.ended(r.id); err != nil {
		return err
	}
	lines, err := r.lines("[" + r.id + ".batch]")
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		return fmt.Errorf("no line of job %s's slurmstepd in slurmd's logs", r.id)
	}
	r.stepd, err = gauge.Stamp(lines[0])
	return err
}

// run is both.
func (b *bench) run(args ...string) (*slurmRun, error) {
	r, err := b.begin(args...)
	if err != nil {
		return nil, err
	}
	return r, r.end(b)
}

// lines of the job's node with these words.
func (r *slurmRun) lines(words ...string) ([]string, error) {
	for _, log := range r.nodes {
		if lines, err := log.Lines(words...); err != nil || len(lines) > 0 {
			return lines, err
		}
	}
	return nil, nil
}

var stageLine = regexp.MustCompile(`stage (\S+) after (\d+\.\d+) s`)

// stages are the seconds from the core's start at which each was reached first. The last is waited for.
func (r *slurmRun) stages(last string) (map[string]float64, error) {
	stages := map[string]float64{}
	if !testcluster.Until(30*time.Second, func() bool {
		lines, _ := r.lines("[" + r.id + ".batch]")
		for _, line := range lines {
			if m := stageLine.FindStringSubmatch(line); m != nil {
				if _, seen := stages[m[1]]; !seen {
					stages[m[1]], _ = strconv.ParseFloat(m[2], 64)
				}
			}
		}
		_, there := stages[last]
		return there
	}) {
		return stages, fmt.Errorf("slurmd's log has no line of stage %q of job %s; is SlurmdDebug less than debug?", last, r.id)
	}
	return stages, nil
}

// ready waits until a job's output has the word "ready".
func (b *bench) ready(id string) error {
	if !testcluster.Until(time.Minute, func() bool {
		text, _ := os.ReadFile(filepath.Join(b.work, id+".out"))
		return strings.Contains(string(text), "ready")
	}) {
		return fmt.Errorf("job %s does not run after a minute", id)
	}
	return nil
}

// cancel ends jobs.
func (b *bench) cancel(ids ...string) error {
	_, err := testcluster.Run(20*time.Second, "scancel", ids...)
	return err
}

// stepProcesses are the pids of the slurmstepds of a job's steps but the extern one.
func stepProcesses(job string) []int {
	return gauge.Pids(func(command string) bool {
		return strings.HasPrefix(command, "slurmstepd: ["+job+".") && !strings.Contains(command, ".extern]")
	})
}
