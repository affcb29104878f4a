// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/gauge"
	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// memory compares the anonymous memory of slurmstepd for a job that sleeps.
func (b *bench) memory() (gauge.Lines, error) {
	plain := gauge.Line{What: "slurmstepd, plain Slurm", Unit: "MB"}
	ours := gauge.Line{What: "slurmstepd, slurm-k8s", Unit: "MB", Against: plain.What}
	for range max(2, b.n/3) {
		for _, way := range []struct {
			to   *gauge.Line
			args []string
		}{{&plain, nil}, {&ours, inPod(os.Getenv("IMAGE_TINY"))}} {
			megabytes, err := b.stepMemory(way.args)
			if err != nil {
				return nil, err
			}
			way.to.Samples = append(way.to.Samples, megabytes)
		}
	}
	lines := gauge.Lines{plain, ours}
	for _, name := range []string{"gocore.so", "relay", "podinit"} {
		info, err := os.Stat(filepath.Join(b.lab.Dir, "libexec", name))
		if err != nil {
			return lines, err
		}
		lines = append(lines, gauge.Line{What: "size of " + name, Unit: "KB", Samples: []float64{float64(info.Size()) / 1000}})
	}
	return lines, nil
}

// stepMemory runs a job and looks at its slurmstepd while its task sleeps.
func (b *bench) stepMemory(args []string) (float64, error) {
	id, err := b.sbatch(append(args, "--wrap", "echo ready; exec sleep 600")...)
	if err != nil {
		return 0, err
	}
	defer testcluster.Run(20*time.Second, "scancel", id)
	if !testcluster.Until(time.Minute, func() bool {
		text, _ := os.ReadFile(filepath.Join(b.work, id+".out"))
		return strings.Contains(string(text), "ready")
	}) {
		return 0, fmt.Errorf("job %s does not run after a minute", id)
	}
	pids := stepProcesses(id)
	if len(pids) != 1 {
		return 0, fmt.Errorf("job %s has %d slurmstepds", id, len(pids))
	}
	status, err := os.ReadFile("/proc/" + pids[0] + "/status")
	if err != nil {
		return 0, err
	}
	for _, text := range strings.Split(string(status), "\n") {
		if words := strings.Fields(text); len(words) > 1 && words[0] == "RssAnon:" {
			kilobytes, err := strconv.ParseFloat(words[1], 64)
			return kilobytes * 1024 / 1e6, err
		}
	}
	return 0, fmt.Errorf("no RssAnon in the status of process %s", pids[0])
}
