// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/gauge"
)

// byKubectl is a job as a site would write it with kubectl and jq.
//
//go:embed kubectl.sh
var byKubectl []byte

// oneJob compares a job of 2 s by four ways.
func (b *bench) oneJob() (gauge.Lines, error) {
	script := filepath.Join(b.work, "kubectl.sh")
	config, err := os.ReadFile(os.Getenv("KUBECONFIG"))
	if err != nil {
		return nil, err
	}
	mine := filepath.Join(b.work, "kubeconfig")
	if err := firstError(os.WriteFile(script, byKubectl, 0o755), os.WriteFile(mine, config, 0o600), chownToUser(mine)); err != nil {
		return nil, err
	}
	bare, err := newBare(b)
	if err != nil {
		return nil, err
	}
	image := os.Getenv("IMAGE_TINY")
	submitted := func(args ...string) func() error {
		return func() error {
			id, err := b.sbatch(args...)
			if err != nil {
				return err
			}
			return b.ended(id)
		}
	}
	ways := []struct {
		name string
		run  func() error
	}{
		{"plain Slurm", submitted("--wrap", "sleep 2")},
		{"slurm-k8s", submitted(append(inPod(image), "--wrap", "sleep 2")...)},
		{"a bare Go client, without Slurm", func() error { return bare.run(context.Background(), "sleep 2") }},
		{"kubectl and jq in a batch script", submitted("--export=ALL,KUBECONFIG="+mine+",IMAGE="+image, script)},
	}
	walls, cpus := make(gauge.Lines, len(ways)), make(gauge.Lines, len(ways))
	idle := gauge.Rate(5 * time.Second)
	for range b.n {
		for i, way := range ways { // in turns, so that all see the same machine
			before := gauge.Busy()
			seconds, err := gauge.Timed(way.run)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", way.name, err)
			}
			walls[i].Samples = append(walls[i].Samples, seconds-2)
			cpus[i].Samples = append(cpus[i].Samples, gauge.Busy()-before-idle*seconds)
		}
	}
	for i, way := range ways {
		walls[i].What, walls[i].Unit, walls[i].Against = way.name+": time beyond 2 s", "s", ways[0].name+": time beyond 2 s"
		cpus[i].What, cpus[i].Unit, cpus[i].Against = way.name+": CPU of the machine", "s", ways[0].name+": CPU of the machine"
	}
	walls[0].Against, cpus[0].Against = "", ""
	return append(walls, cpus...), nil
}
