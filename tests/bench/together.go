// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/gauge"
	"github.com/slurm-k8s/slurm-k8s/tests/bench/world"
	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

const togetherLimit = 15 * time.Minute

// startTogether has many Pods start at once and looks when the first byte of each is there.
func (b *bench) startTogether(bare *bareClient, lines *gauge.Lines) (err error) {
	back, err := b.roomy(slices.Max(b.together))
	if back != nil {
		defer func() { err = errors.Join(err, back()) }()
	}
	if err != nil {
		return err
	}
	for _, count := range b.together {
		rounds := max(1, b.n/5)
		if count > 50 {
			rounds = 1
		}
		way := func(name, against string, start func(int) ([]float64, error)) func() error {
			return func() error {
				seconds, err := start(count)
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				slices.Sort(seconds)
				half, last := fmt.Sprintf("%d at once: half of them run", count), fmt.Sprintf("%d at once: all of them run", count)
				if against == "" {
					lines.Add(name+", "+half, "s", "", gauge.Median(seconds))
					lines.Add(name+", "+last, "s", "", seconds[len(seconds)-1])
				} else {
					lines.Add(name+", "+half, "s", against+", "+half, gauge.Median(seconds))
					lines.Add(name+", "+last, "s", against+", "+last, seconds[len(seconds)-1])
				}
				return b.noPods()
			}
		}
		if err := gauge.Turns(rounds, way("a bare Go client", "", bare.firstBytes), way("slurm-k8s", "a bare Go client", b.firstBytes)); err != nil {
			return err
		}
	}
	return nil
}

// noPods waits until those of the rounds before are gone.
func (b *bench) noPods() error {
	return world.NoPods(b.lab, 10*time.Minute, testcluster.Namespace, bareSpace)
}

// firstBytes is when the output of each of so many jobs has begun, in seconds from the submission on. The jobs are ended then.
func (b *bench) firstBytes(count int) ([]float64, error) {
	begun := time.Now()
	args := []string{fmt.Sprintf("--array=1-%d", count), "-o", "%A_%a.out", "--mem=50M"}
	id, err := b.sbatch(append(args, append(inPod(benchImage()), "--wrap", idleScript)...)...)
	if err != nil {
		return nil, err
	}
	waiting := map[string]bool{}
	for i := range count {
		waiting[filepath.Join(b.work, fmt.Sprintf("%s_%d.out", id, i+1))] = true
	}
	var seconds []float64
	for len(waiting) > 0 && time.Since(begun) < togetherLimit {
		for path := range waiting {
			if info, err := os.Stat(path); err == nil && info.Size() > 0 {
				delete(waiting, path)
				seconds = append(seconds, time.Since(begun).Seconds())
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err := b.cancel(id); err != nil {
		return nil, err
	}
	if len(waiting) > 0 {
		return nil, fmt.Errorf("%d of %d jobs of array %s do not run after %s", len(waiting), count, id, togetherLimit)
	}
	return seconds, nil
}

// firstBytes is the same with Pods alone.
func (c *bareClient) firstBytes(count int) ([]float64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), togetherLimit)
	defer cancel()
	begun := time.Now()
	var mu sync.Mutex
	var seconds []float64
	var all, first sync.WaitGroup
	errs := make([]error, count)
	first.Add(count)
	for i := range count {
		all.Go(func() {
			seen := sync.OnceFunc(func() {
				mu.Lock()
				seconds = append(seconds, time.Since(begun).Seconds())
				mu.Unlock()
				first.Done()
			})
			came := false
			_, err := c.copyLog(ctx, idleScript, writerFunc(func(p []byte) (int, error) { came = true; seen(); return len(p), nil }))
			if !came {
				errs[i] = err
				seen()
			}
		})
	}
	first.Wait()
	cancel() // which ends the others' reading, and removes their Pods
	all.Wait()
	return seconds, errors.Join(errs...)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
