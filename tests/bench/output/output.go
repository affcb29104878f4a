// SPDX-License-Identifier: Apache-2.0

// Package output looks at what becomes of a job's output: how fast it comes home, how much of it, and what another client
// of Kubernetes feels meanwhile.
package output

import (
	"context"
	"fmt"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/gauge"
	"github.com/slurm-k8s/slurm-k8s/tests/bench/world"
)

// kind is one sort of output, as a script for busybox and for the machine's own shell.
type kind struct {
	name   string
	script string // of so many bytes
	line   int64  // bytes of one line; 0: there are none
}

var kinds = []kind{
	{"short lines", "yes 0123456789abcdef | head -c %d", 17},
	{"lines of 64 KiB", `yes "$(head -c 65535 /dev/zero | tr '\0' x)" | head -c %d`, 65536},
	{"no newline", "head -c %d /dev/zero", 0},
}

// arrival is what came of one job's output.
type arrival struct {
	bytes, lines int64
	seconds      float64 // from the first byte, or the first look at a Pod that runs, to the last byte
}

type row struct {
	*world.World
	bytes int64
	lines gauge.Lines
}

// Measure carries so many bytes of each kind by each way, and then holds so many idle streams open.
func Measure(w *world.World, bytes int64, streams int) (gauge.Lines, error) {
	r := &row{World: w, bytes: bytes}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	quiet := watchLatency(ctx, w.Client)
	time.Sleep(5 * time.Second) // the sample's length
	r.lines.Add(latencyOf("nothing else"), "ms", "", quiet()...)
	for _, kind := range kinds {
		if err := r.carry(ctx, kind); err != nil {
			return r.lines, err
		}
	}
	return r.lines, r.idle(ctx, streams)
}

// carry compares the ways for one kind of output.
func (r *row) carry(ctx context.Context, kind kind) error {
	script := fmt.Sprintf(kind.script, r.bytes)
	const plain = "plain Slurm"
	ways := []struct {
		name string
		run  func() (arrival, error)
	}{
		{plain, func() (arrival, error) { return r.job(ctx, nil, script) }},
		{"slurm-k8s", func() (arrival, error) { return r.job(ctx, r.InPod(), script) }},
		{"kubectl logs -f", func() (arrival, error) { return r.followed(ctx, script) }},
	}
	for range max(1, r.N/5) {
		for _, way := range ways { // in turns, so that all see the same machine
			slow := watchLatency(ctx, r.Client)
			got, err := way.run()
			samples := slow()
			if err != nil {
				return fmt.Errorf("%s by %s: %w", kind.name, way.name, err)
			}
			what := kind.name + ", " + way.name
			against := ""
			if way.name != plain {
				against = kind.name + ", " + plain + ": rate"
			}
			r.lines.Add(what+": rate", "MB/s", against, float64(got.bytes)/1e6/got.seconds)
			r.lines.Add(what+": bytes lost", "", "", float64(r.bytes-got.bytes))
			if kind.line > 0 {
				r.lines.Add(what+": line ends lost", "", "", float64(r.bytes/kind.line-got.lines))
			}
			r.lines.Add(latencyOf(what), "ms", latencyOf("nothing else"), samples...)
		}
	}
	return nil
}

func latencyOf(meanwhile string) string {
	return "another client's GET of a small object beside " + meanwhile
}
