// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Job is a job as Slurm knows it.
type Job struct {
	State    string // Slurm's word: RUNNING
	Restarts uint32
}

// slurmWait bounds one of Slurm's commands beside the context.
const slurmWait = 30 * time.Second

// Commands asks Slurm by its own commands, which find and authenticate to slurmctld. One
// process a run: cheaper than a library of each release.
type Commands struct {
	// Run returns a command's standard output. Nil: really run it.
	Run func(ctx context.Context, name string, arguments ...string) ([]byte, error)
}

var _ Slurm = Commands{}

// Jobs implements Slurm. In 22.05 and later, JobID is each array task's own id.
func (c Commands) Jobs(ctx context.Context) (map[uint32]Job, error) {
	out, err := c.run(ctx, "squeue", "--noheader", "--all", "--local", "--states=all",
		"--Format=JobID:20,State:20,RestartCnt:20")
	if err != nil {
		return nil, err
	}
	return parseJobs(string(out))
}

// ClusterName is Slurm's own name of the cluster.
func (c Commands) ClusterName(ctx context.Context) (string, error) {
	out, err := c.run(ctx, "scontrol", "show", "config")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(out)) {
		if key, value, ok := strings.Cut(line, "="); ok && strings.TrimSpace(key) == "ClusterName" {
			if value = strings.TrimSpace(value); value != "" && value != "(null)" {
				return value, nil
			}
		}
	}
	return "", errors.New("scontrol show config names no ClusterName")
}

// parseJobs reads squeue's lines "ID STATE RESTARTS". A line of another form means that the
// answer is not understood, and a job not seen would cost it its Pod: an error.
func parseJobs(text string) (map[uint32]Job, error) {
	jobs := map[uint32]Job{}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 3 {
			return nil, fmt.Errorf("squeue printed a line that is not understood: %q", cut(line))
		}
		id, err := strconv.ParseUint(fields[0], 10, 32)
		if err != nil {
			return nil, fmt.Errorf("squeue printed a job id that is not understood: %q", cut(line))
		}
		restarts, err := strconv.ParseUint(fields[2], 10, 32)
		if err != nil {
			return nil, fmt.Errorf("squeue printed a restart count that is not understood: %q", cut(line))
		}
		jobs[uint32(id)] = Job{State: strings.ToUpper(fields[1]), Restarts: uint32(restarts)}
	}
	return jobs, nil
}

func (c Commands) run(ctx context.Context, name string, arguments ...string) ([]byte, error) {
	if c.Run != nil {
		return c.Run(ctx, name, arguments...)
	}
	ctx, cancel := context.WithTimeout(ctx, slurmWait)
	defer cancel()
	command := exec.CommandContext(ctx, name, arguments...)
	command.Env = environment(os.Environ())
	command.WaitDelay = time.Second
	var out, faults bytes.Buffer
	command.Stdout, command.Stderr = &out, &faults
	if err := command.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		said := strings.TrimSpace(faults.String())
		if said == "" {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return nil, fmt.Errorf("%s: %w [%s]", name, err, cut(said))
	}
	return out.Bytes(), nil
}

// environment is ours without what would change squeue's answer.
func environment(all []string) []string {
	kept := []string{"LC_ALL=C"}
	for _, variable := range all {
		switch name, _, _ := strings.Cut(variable, "="); {
		case strings.HasPrefix(name, "SQUEUE_"), strings.HasPrefix(name, "LC_"), name == "LANG",
			name == "SLURM_CLUSTERS", name == "SLURM_BITSTR_LEN", name == "SCONTROL_ALL", name == "SLURM_DEBUG_FLAGS":
		default:
			kept = append(kept, variable)
		}
	}
	return kept
}

// cut makes foreign text a short line.
func cut(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "..."
	}
	return text
}
