// SPDX-License-Identifier: Apache-2.0

package job

import (
	"time"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// soonest a job may run again: slurmd refuses a credential that was made in the second, on
// its own clock, in which it heard of the job's end, or before (Slurm's slurm_cred.c), and
// the job would fail. Slurm itself waits two minutes.
const soonest = 3 * time.Second

// Backoff is the delay before a job runs again that was put back `gated` times before:
// requeue.backoff, doubled each time up to requeue.backoff_max; of that the part
// requeue.jitter is random, so that jobs put back together do not come again together.
// random is from 0 to 1. The result is never above backoff_max nor below 3 s.
func Backoff(gated uint32, r site.Requeue, random float64) time.Duration {
	full := doubled(r.Backoff.Duration, r.BackoffMax.Duration, gated)
	jitter := min(max(r.Jitter, 0), 1)
	random = min(max(random, 0), 1)
	return max(soonest, full-time.Duration(float64(full)*jitter*(1-random)))
}

// GateWait is how long a Pod that does not fit keeps its place: gate.wait, doubled for
// each time the job was put back up to gate.wait_max, so that large jobs are not starved.
func GateWait(gated uint32, g site.Gate) time.Duration {
	return doubled(g.Wait.Duration, g.WaitMax.Duration, gated)
}

func doubled(first, limit time.Duration, times uint32) time.Duration {
	d := first
	for ; times > 0 && d > 0 && d < limit; times-- {
		d *= 2
		if d < 0 { // overflow
			return limit
		}
	}
	return max(0, min(d, limit))
}
