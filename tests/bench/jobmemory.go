// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/gauge"
)

// jobMemory runs each way again and looks at its processes on the Slurm node: the most memory that they have at one time, and how
// much they work. Looking costs too much to be done while something is timed.
func (b *bench) jobMemory(ways []way, lines *gauge.Lines) error {
	for range max(2, b.n/3) {
		for _, w := range ways {
			look := func() error { return b.lookAt(w, lines) }
			if w.name == bareWay {
				look = func() error { return bareAlone(w, lines) }
			}
			if err := w.prepared(look); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
		}
	}
	return nil
}

// lookAt a way through Slurm.
func (b *bench) lookAt(w way, lines *gauge.Lines) error {
	var daemons []int // which start Prolog, Epilog and what plugins have of the like
	for _, node := range []string{"n1", "n2"} {
		pid, err := gauge.Daemon(b.lab.Dir, "slurmd-"+node)
		if err != nil {
			return err
		}
		daemons = append(daemons, pid)
	}
	before := gauge.CPU(daemons...)
	const often = 20 * time.Millisecond
	memory := gauge.WatchPeak(often, func() []int {
		return gauge.Pids(func(command string) bool { return b.isStep(command) || w.belongs != nil && w.belongs(command) })
	})
	worked := gauge.WatchPeak(often, func() []int { return gauge.Tree(gauge.Pids(b.isStep)...) })
	_, err := w.run(w, &gauge.Lines{})
	most, _ := memory.Stop()
	_, cpu := worked.Stop()
	if err != nil {
		return err
	}
	addPeak(lines, w, most, cpu+gauge.CPU(daemons...)-before)
	return nil
}

func addPeak(lines *gauge.Lines, w way, most gauge.Memory, cpu float64) {
	for _, l := range []struct {
		of, unit, against string
		value             float64
	}{
		{": peak of its processes on the Slurm node, anonymous memory", "MB", plainWay, most.Anonymous},
		{": the same, files in memory included", "MB", plainWay, most.Share},
		{": CPU of slurmd, slurmstepd and all that they start", "s", kubectlName, cpu},
	} {
		against := l.against + l.of
		if w.name == l.against {
			against = ""
		}
		lines.Add(w.name+l.of, l.unit, against, l.value)
	}
}

// isStep says whether a process is a slurmstepd of this cluster's: another's has jobs of other numbers.
func (b *bench) isStep(command string) bool {
	rest, is := strings.CutPrefix(command, "slurmstepd: [")
	job, _, _ := strings.Cut(rest, ".")
	number, err := strconv.Atoi(job)
	instance, _ := strconv.Atoi(b.lab.Vars["SLURM_K8S_INSTANCE"])
	return is && err == nil && number/1000000 == instance && !strings.Contains(command, ".extern]")
}

// aloneFlag makes this program the bare client and nothing more, for a look at such a process.
const aloneFlag = "-bare-client-alone"

func isAlone(command string) bool { return strings.Contains(command, aloneFlag) }

func bareAlone(w way, lines *gauge.Lines) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	memory := gauge.WatchPeak(20*time.Millisecond, func() []int { return gauge.Pids(isAlone) })
	c := exec.Command(self, aloneFlag, "sleep 2")
	out, err := c.CombinedOutput()
	most, _ := memory.Stop()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	addPeak(lines, w, most, (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds())
	return nil
}

// alone is that process.
func (b *bench) alone(script string) error {
	bare, err := newBare(b)
	if err != nil {
		return err
	}
	return bare.run(context.Background(), script)
}
