// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/full"
	"github.com/slurm-k8s/slurm-k8s/tests/bench/gauge"
	"github.com/slurm-k8s/slurm-k8s/tests/bench/onenode"
	"github.com/slurm-k8s/slurm-k8s/tests/bench/output"
	"github.com/slurm-k8s/slurm-k8s/tests/bench/scale"
	"github.com/slurm-k8s/slurm-k8s/tests/bench/world"
)

// world is what rows in packages of their own get.
func (b *bench) world() (*world.World, error) {
	bare, err := newBare(b)
	if err != nil {
		return nil, err
	}
	return &world.World{
		Lab: b.lab, Work: b.work, User: benchUser, Image: os.Getenv("IMAGE_TINY"), N: b.n, Client: bare.client, Sbatch: b.sbatch, Change: b.changes.make,
	}, nil
}

func (b *bench) oneNode() (gauge.Lines, error) {
	w, err := b.world()
	if err != nil {
		return nil, err
	}
	return onenode.Measure(w, b.idle)
}

func (b *bench) outputs() (gauge.Lines, error) {
	w, err := b.world()
	if err != nil {
		return nil, err
	}
	return output.Measure(w, int64(b.output), b.streams)
}

func (b *bench) fullCluster() (gauge.Lines, error) {
	w, err := b.world()
	if err != nil {
		return nil, err
	}
	return full.Measure(w, b.full)
}

func (b *bench) scale() (gauge.Lines, error) {
	w, err := b.world()
	if err != nil {
		return nil, err
	}
	return scale.Measure(w, b.nodes)
}
