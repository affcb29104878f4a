// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/gauge"
)

// outputMegabytes is what each way carries.
const outputMegabytes = 256

// output compares how fast short lines come home, and how much of them.
func (b *bench) output() (gauge.Lines, error) {
	script := fmt.Sprintf("yes 0123456789abcdef | head -c %d", outputMegabytes<<20)
	bare, err := newBare(b)
	if err != nil {
		return nil, err
	}
	job := func(args []string) func() (int64, error) {
		return func() (int64, error) {
			id, err := b.sbatch(append(args, "--wrap", script)...)
			if err != nil {
				return 0, err
			}
			if err := b.ended(id); err != nil {
				return 0, err
			}
			path := filepath.Join(b.work, id+".out")
			defer os.Remove(path)
			info, err := os.Stat(path)
			if err != nil {
				return 0, err
			}
			return info.Size(), nil
		}
	}
	ways := []struct {
		name string
		run  func() (int64, error)
	}{
		{"plain Slurm", job(nil)},
		{"slurm-k8s", job(inPod(os.Getenv("IMAGE_TINY")))},
		{"the log of a Pod, followed", func() (int64, error) { return bare.copyLog(context.Background(), script, io.Discard) }},
	}
	rates, lost := make(gauge.Lines, len(ways)), make(gauge.Lines, len(ways))
	for range max(1, b.n/3) {
		for i, way := range ways {
			var arrived int64
			seconds, err := gauge.Timed(func() (err error) { arrived, err = way.run(); return err })
			if err != nil {
				return nil, fmt.Errorf("%s: %w", way.name, err)
			}
			rates[i].Samples = append(rates[i].Samples, float64(arrived)/1e6/seconds)
			lost[i].Samples = append(lost[i].Samples, float64(outputMegabytes<<20-arrived)/1e6)
		}
	}
	for i, way := range ways {
		rates[i].What, rates[i].Unit = way.name+": rate, the job's start and end included", "MB/s"
		lost[i].What, lost[i].Unit = way.name+": lost", "MB"
		if i > 0 {
			rates[i].Against = rates[0].What
		}
	}
	return append(rates, lost...), nil
}
