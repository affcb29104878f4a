// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/gauge"
)

// unused compares Slurm without the plugin, with it, and with its check of a submission, in turns.
func (b *bench) unused() (lines gauge.Lines, err error) {
	stack, err := b.slurmFile("plugstack.conf")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stack.close()) }()
	for round := range b.n {
		turns := []bool{false, true}
		if round%2 == 1 { // what drifts with time favours neither
			turns = []bool{true, false}
		}
		var medians [2]map[string]float64
		for _, with := range turns {
			text, at := []byte(nil), 0
			if with {
				text, at = stack.text, 1
			}
			if err := stack.set(text); err != nil {
				return lines, err
			}
			if medians[at], err = b.unusedTurn(&lines, with); err != nil {
				return lines, err
			}
		}
		for _, what := range []string{"srun true", "sbatch --test-only"} {
			lines.Add(what+": plugin there, to none in the same round", "", "", medians[1][what]/medians[0][what])
			lines.Add(what+": plugin there, to none, CPU of the command", "", "", medians[1][what+" CPU"]/medians[0][what+" CPU"])
		}
	}
	if err := stack.close(); err != nil {
		return lines, err
	}
	return lines, b.goMapped(&lines)
}

// unusedTurn takes some samples of each command, and gives their medians.
func (b *bench) unusedTurn(lines *gauge.Lines, with bool) (map[string]float64, error) {
	const samples = 5
	suffix, against := ", no plugin", ""
	if with {
		suffix = ", plugin there"
	}
	medians := map[string]float64{}
	sample := func(what, shown string, command ...string) error {
		var walls, cpus []float64
		for i := range samples + 1 {
			seconds, cpu, err := b.clientTime(command...)
			if err != nil {
				return err
			}
			if i > 0 { // the first finds caches as the restart has left them
				walls, cpus = append(walls, 1000*seconds), append(cpus, 1000*cpu)
			}
		}
		medians[what], medians[what+" CPU"] = gauge.Median(walls), gauge.Median(cpus)
		lines.Add(shown, "ms", against, walls...)
		lines.Add(shown+": CPU of the command", "ms", "", cpus...)
		return nil
	}
	test := []string{"sbatch", "--test-only", "--mem=100M", "--wrap", "true"}
	if with {
		against = "srun true, no plugin"
	}
	if err := sample("srun true", "srun true"+suffix, "srun", "--mem=100M", "true"); err != nil {
		return nil, err
	}
	if with {
		against = "sbatch --test-only, no plugin"
	}
	if err := sample("sbatch --test-only", "sbatch --test-only"+suffix, test...); err != nil || !with {
		return medians, err
	}
	return medians, sample("used", "sbatch --test-only --k8s-image, so checked", append(test, inPod(benchImage())...)...)
}

// clientTime runs a command as the user and gives its seconds, and those that it worked.
func (b *bench) clientTime(words ...string) (seconds, cpu float64, err error) {
	b.changes.allowed()
	c, err := b.command(nil, words[0], words[1:]...)
	if err != nil {
		return 0, 0, err
	}
	var said bytes.Buffer
	c.Stderr = &said
	seconds, err = gauge.Timed(c.Run)
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w: %s", strings.Join(words, " "), err, strings.TrimSpace(said.String()))
	}
	return seconds, (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), nil
}

func benchImage() string { return os.Getenv("IMAGE_TINY") }
