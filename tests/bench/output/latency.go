// SPDX-License-Identifier: Apache-2.0

package output

import (
	"context"
	"time"

	"k8s.io/client-go/rest"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/gauge"
)

// between are the questions of the other client.
const between = 50 * time.Millisecond

// watchLatency asks for a small object again and again until it is stopped, which gives each answer's milliseconds.
func watchLatency(ctx context.Context, client rest.Interface) (stop func() []float64) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan []float64, 1)
	go func() { // until stop, or ctx ends
		var samples []float64
		defer func() { done <- samples }()
		again := time.NewTicker(between)
		defer again.Stop()
		for {
			seconds, err := gauge.Timed(func() error {
				return client.Get().Resource("namespaces").Name("default").Timeout(time.Minute).Do(ctx).Error()
			})
			if ctx.Err() == nil && err == nil {
				samples = append(samples, 1000*seconds)
			}
			select {
			case <-ctx.Done():
				return
			case <-again.C:
			}
		}
	}()
	return func() []float64 {
		cancel()
		return <-done
	}
}
