// SPDX-License-Identifier: Apache-2.0

package full

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// largeCPUs are all that are free in the cluster of the large job; small ones take one.
const largeCPUs = 8

const smallLength = 5 * time.Second

// large submits a job that needs all the room there is, while small ones come all the time, and looks whether and when it starts.
func (r *row) large(ctx context.Context, way way) (err error) {
	full, err := way.fill(ctx, largeCPUs)
	defer func() { err = errors.Join(err, full.empty()) }()
	if err != nil {
		return err
	}
	starts := newStarts(r.Work)
	if err := r.more(way, 4*largeCPUs); err != nil {
		return err
	}
	if _, err := starts.next(ctx, 2*time.Minute); err != nil { // the small ones have the room
		return err
	}
	large, err := r.Sbatch(way.job(time.Second, "--nodes=1", "--ntasks=1", fmt.Sprintf("--cpus-per-task=%d", largeCPUs))...)
	if err != nil {
		return err
	}
	begun, small, before := time.Now(), 0, 0
	started := false
	for !started && time.Since(begun) < r.Large {
		ids := starts.news()
		started = slices.Contains(ids, large)
		small += len(ids)
		if state, over := ended(large); over && !started {
			return fmt.Errorf("the large job %s is %s and has not started", large, state)
		}
		// As many again as have started: the stream does not end.
		if small-before >= largeCPUs {
			if err := r.more(way, small-before); err != nil {
				return err
			}
			before = small
		}
		if !started {
			if err := wait(ctx, 200*time.Millisecond); err != nil {
				return err
			}
		}
	}
	if started {
		small--
		r.add(way, fmt.Sprintf("a job of all %d cpus among ones of 1: from submission to start", largeCPUs), "s", time.Since(begun).Seconds())
	} else {
		r.add(way, fmt.Sprintf("a job of all %d cpus among ones of 1: has not started after", largeCPUs), "s", time.Since(begun).Seconds())
	}
	r.add(way, "small jobs that started meanwhile", "", float64(small))
	return r.Cancel(5 * time.Minute) // before there is room for them
}

// more submits small jobs.
func (r *row) more(way way, count int) error {
	_, err := r.Sbatch(way.job(smallLength, fmt.Sprintf("--array=1-%d", count))...)
	return err
}

// cancelOne ends one job and waits until Slurm's node is free of it.
func (r *row) cancelOne(id string) error {
	if _, err := testcluster.Run(20*time.Second, "scancel", id); err != nil {
		return err
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, over := ended(id); over {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("job %s has not ended a minute after scancel", id)
		}
	}
}
