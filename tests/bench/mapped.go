// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/gauge"
)

const coreName = "gocore.so"

// goMapped looks for the core, which is all the Go there is, in the processes of ordinary jobs. srun and slurmstepd live long enough for
// a look at their memory; what sbatch and srun have loaded in all their life is what the loader says, and so is the proof that
// this look sees the core where it is.
func (b *bench) goMapped(lines *gauge.Lines) error {
	const what = "processes of ordinary jobs with " + coreName + " in /proc/PID/maps, of "
	c, err := b.command(nil, "srun", "--mem=100M", "sh", "-c", "echo $SLURM_JOB_ID; read line || true")
	if err != nil {
		return err
	}
	in, err := c.StdinPipe()
	if err != nil {
		return err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	b.changes.allowed()
	if err := c.Start(); err != nil {
		return err
	}
	text := make([]byte, 32)
	n, _ := out.Read(text)
	steps := stepProcesses(strings.TrimSpace(string(text[:n])))
	sruns := gauge.Tree(c.Process.Pid)
	found, err := mapping(append(steps, sruns...))
	in.Close()
	if err := errors.Join(err, c.Wait()); err != nil {
		return err
	}
	if len(steps) == 0 {
		return errors.New("no slurmstepd of srun's job was found")
	}
	lines.Add(what+fmt.Sprintf("srun (%d processes) and its slurmstepd", len(sruns)), "", "", found)
	id, err := b.sbatch("--wrap", "echo ready; exec sleep 600")
	if err != nil {
		return err
	}
	defer b.cancel(id)
	if err := b.ready(id); err != nil {
		return err
	}
	steps = stepProcesses(id)
	if len(steps) == 0 {
		return fmt.Errorf("no slurmstepd of batch job %s was found", id)
	}
	if found, err = mapping(steps); err != nil {
		return err
	}
	lines.Add(what+"a batch job's slurmstepd", "", "", found)
	test := []string{"sbatch", "--test-only", "--mem=100M", "--wrap", "true"}
	for _, look := range []struct {
		shown   string
		command []string
	}{
		{"srun true", []string{"srun", "--mem=100M", "true"}},
		{"sbatch --test-only", test},
		{"sbatch --test-only --k8s-image", append(test, inPod(benchImage())...)},
	} {
		if found, err = b.loaded(look.command...); err != nil {
			return err
		}
		lines.Add(fmt.Sprintf("processes that load %s (LD_DEBUG): %s", coreName, look.shown), "", "", found)
	}
	return nil
}

// mapping counts the processes that have the core in their memory.
func mapping(pids []int) (found float64, err error) {
	for _, pid := range pids {
		is, err := gauge.Maps(pid, coreName)
		if err != nil {
			return 0, err
		}
		if is {
			found++
		}
	}
	return found, nil
}

// loaded counts the processes of a command, its task's included, that load the core at any time.
func (b *bench) loaded(words ...string) (found float64, err error) {
	b.changes.allowed()
	c, err := b.command([]string{"LD_DEBUG=files", "LD_DEBUG_OUTPUT=" + filepath.Join(b.work, "loader")}, words[0], words[1:]...)
	if err != nil {
		return 0, err
	}
	if err := c.Run(); err != nil {
		return 0, fmt.Errorf("%s: %w", strings.Join(words, " "), err)
	}
	logs, _ := filepath.Glob(filepath.Join(b.work, "loader.*"))
	if len(logs) == 0 {
		return 0, fmt.Errorf("the loader says nothing of %s", words[0])
	}
	for _, log := range logs {
		text, err := os.ReadFile(log)
		if err != nil {
			return 0, err
		}
		if strings.Contains(string(text), coreName) {
			found++
		}
		os.Remove(log)
	}
	return found, nil
}
