// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/gauge"
	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// unused compares Slurm without the plugin, with it, and with its check of a submission, in turns.
func (b *bench) unused() (lines gauge.Lines, err error) {
	stack := filepath.Join(b.lab.Dir, "etc/plugstack.conf")
	with, err := os.ReadFile(stack)
	if err != nil {
		return nil, err
	}
	// Put back whatever happens.
	defer func() {
		if back := b.plugstack(stack, with); err == nil {
			err = back
		}
	}()
	results := map[string]*gauge.Line{}
	order := []string{}
	sample := func(what, against string, do func() error) error {
		l := results[what]
		if l == nil {
			l = &gauge.Line{What: what, Unit: "ms", Against: against}
			results[what] = l
			order = append(order, what)
		}
		for range 2 * b.n {
			seconds, err := gauge.Timed(do)
			if err != nil {
				return err
			}
			l.Samples = append(l.Samples, 1000*seconds)
		}
		return nil
	}
	srun := func() error { _, err := b.as("srun", "--mem=100M", "true"); return err }
	test := func() error { _, err := b.as("sbatch", "--test-only", "--mem=100M", "--wrap", "true"); return err }
	checked := func() error {
		_, err := b.as("sbatch", append(inPod(os.Getenv("IMAGE_TINY")), "--test-only", "--mem=100M", "--wrap", "true")...)
		return err
	}
	for range 2 {
		if err := b.plugstack(stack, nil); err != nil {
			return nil, err
		}
		if err := firstError(sample("srun true, no plugin", "", srun), sample("sbatch --test-only, no plugin", "", test)); err != nil {
			return nil, err
		}
		if err := b.plugstack(stack, with); err != nil {
			return nil, err
		}
		if err := firstError(sample("srun true, plugin there", "srun true, no plugin", srun), sample("sbatch --test-only, plugin there", "sbatch --test-only, no plugin", test),
			sample("sbatch --test-only --k8s-image", "sbatch --test-only, no plugin", checked)); err != nil {
			return nil, err
		}
	}
	for _, what := range order {
		lines = append(lines, *results[what])
	}
	mapped, err := b.goMapped()
	return append(lines, gauge.Line{What: "processes of a job without our options that map gocore.so", Samples: []float64{float64(mapped)}}), err
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// plugstack sets Slurm's list of plugins and restarts both slurmds, which remember it.
func (b *bench) plugstack(path string, text []byte) error {
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return err
	}
	for _, verb := range []string{"stop", "start"} {
		if out, err := testcluster.Run(time.Minute, filepath.Join(b.lab.Scripts, verb), "slurmd-n1", "slurmd-n2"); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
	}
	if !testcluster.Until(30*time.Second, func() bool {
		out, err := testcluster.Run(10*time.Second, "sinfo", "-h", "-N", "-p", "main", "-t", "idle", "-o", "%N")
		return err == nil && len(strings.Fields(out)) == 2
	}) {
		return fmt.Errorf("the nodes are not idle 30 s after slurmd's restart")
	}
	return nil
}

// goMapped counts the srun and slurmstepd processes of an ordinary job that have the core in their memory.
func (b *bench) goMapped() (int, error) {
	c, err := b.command(nil, "srun", "--mem=100M", "sh", "-c", "echo $SLURM_JOB_ID; exec sleep 5")
	if err != nil {
		return 0, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := c.Start(); err != nil {
		return 0, err
	}
	text := make([]byte, 32)
	n, _ := out.Read(text)
	steps := stepProcesses(strings.TrimSpace(string(text[:n])))
	mapped := 0
	for _, pid := range append(steps, fmt.Sprint(c.Process.Pid)) {
		if maps, _ := os.ReadFile("/proc/" + pid + "/maps"); strings.Contains(string(maps), "gocore.so") {
			mapped++
		}
	}
	if err := c.Wait(); err != nil {
		return 0, err
	}
	if len(steps) == 0 {
		return 0, fmt.Errorf("no slurmstepd of the job was found")
	}
	return mapped, nil
}

// stepProcesses are the pids of the slurmstepds of a job's steps but the extern one.
func stepProcesses(job string) []string {
	var pids []string
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range all {
		text, _ := os.ReadFile(path)
		if title := string(text); strings.HasPrefix(title, "slurmstepd: ["+job+".") && !strings.Contains(title, ".extern]") {
			pids = append(pids, filepath.Base(filepath.Dir(path)))
		}
	}
	return pids
}
