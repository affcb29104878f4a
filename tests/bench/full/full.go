// SPDX-License-Identifier: Apache-2.0

// Package full looks at a cluster that has no room while many jobs are pending: what they ask of Kubernetes meanwhile, how
// soon one starts once there is room, and whether a large job comes to its turn among small ones.
package full

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/gauge"
	"github.com/slurm-k8s/slurm-k8s/tests/bench/world"
	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// Sizes of the row.
type Sizes struct {
	Pending int           // jobs
	Full    time.Duration // how long there is no room
	Large   time.Duration // how long the large job may wait for its start
}

type row struct {
	*world.World
	Sizes
	lines gauge.Lines
}

// Measure does the three, ours and plain Slurm's.
func Measure(w *world.World, sizes Sizes) (_ gauge.Lines, err error) {
	r := &row{World: w, Sizes: sizes}
	changes := w.Changes()
	defer func() { err = errors.Join(err, changes.Back()) }()
	site, siteAsWas := w.EditSite(defaultTimes)
	err = changes.Make(nil, "the times in k8s.yaml", site, siteAsWas)
	err = changes.Make(err, "pending jobs", world.Nothing, func() error { return w.Cancel(5 * time.Minute) })
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, way := range []way{plain(r), inPods(r)} {
		if err := r.pend(ctx, way); err != nil {
			return r.lines, fmt.Errorf("%s, a full cluster: %w", way.name, err)
		}
		if err := r.large(ctx, way); err != nil {
			return r.lines, fmt.Errorf("%s, a large job: %w", way.name, err)
		}
	}
	return r.lines, nil
}

// shortTimes are what the tests' k8s.yaml says of the gate and of requeues, since tests wait for them.
var shortTimes = regexp.MustCompile(`(?m)^(gate|requeue):\n(  .*\n)*`)

// defaultTimes lets jobs wait as they do on a site.
func defaultTimes(was string) (string, error) {
	text := shortTimes.ReplaceAllString(was, "")
	if text == was {
		return "", errors.New("k8s.yaml says nothing of the gate or of requeues")
	}
	return text, nil
}

// sleeper is a job's script that tells when it starts.
func sleeper(length time.Duration) string {
	return fmt.Sprintf("echo started; exec sleep %d", int(length.Seconds()))
}

// pend lets jobs be pending in a full cluster, and then makes room, once and again.
func (r *row) pend(ctx context.Context, way way) (err error) {
	full, err := way.fill(ctx, 0)
	defer func() { err = errors.Join(err, full.empty()) }()
	if err != nil {
		return err
	}
	starts := newStarts(r.Work)
	if _, err := r.Sbatch(way.job(long, fmt.Sprintf("--array=1-%d", r.Pending))...); err != nil {
		return err
	}
	if err := r.count(way, func() error { return wait(ctx, r.Full) }); err != nil {
		return err
	}
	if early := starts.news(); len(early) > 0 {
		return fmt.Errorf("%d jobs have started without room", len(early))
	}
	for range min(rooms, r.Pending) {
		if err := full.makeRoom(ctx); err != nil {
			return err
		}
		seconds, err := gauge.Timed(func() error { _, err := starts.next(ctx, 15*time.Minute); return err })
		if err != nil {
			return err
		}
		r.add(way, "from room to a job's start", "s", seconds)
	}
	return r.Cancel(5 * time.Minute) // before there is room for them
}

// rooms are made one after another.
const rooms = 5

// count gives the requests of a time, per minute.
func (r *row) count(way way, do func() error) error {
	audit, err := gauge.MarkAudit(r.Lab.Dir)
	if err != nil {
		return err
	}
	before, err := gauge.Slurmctld()
	if err != nil {
		return err
	}
	busy := gauge.Busy()
	seconds, err := gauge.Timed(do)
	if err != nil {
		return err
	}
	minutes := seconds / 60
	verbs, err := audit.Counted(gauge.ByNode)
	if err != nil {
		return err
	}
	after, err := gauge.Slurmctld()
	if err != nil {
		return err
	}
	about := fmt.Sprintf("per minute with %d jobs pending", r.Pending)
	if way.against != "" {
		r.add(way, "requests to Kubernetes "+about, "", gauge.Sum(verbs)/minutes)
		for _, verb := range slices.Sorted(maps.Keys(verbs)) {
			r.add(way, "of these "+verb, "", verbs[verb]/minutes)
		}
	}
	r.add(way, "requests to slurmctld "+about, "", (gauge.Sum(after)-gauge.Sum(before))/minutes)
	r.add(way, "CPU of the machine, idle included, "+about, "s", (gauge.Busy()-busy)/minutes)
	return nil
}

func (r *row) add(way way, what, unit string, sample float64) {
	against := ""
	if way.against != "" {
		against = way.against + ": " + what
	}
	r.lines.Add(way.name+": "+what, unit, against, sample)
}

// wait is how long something is looked at.
func wait(ctx context.Context, length time.Duration) error {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// ended says whether a job is over, and how.
func ended(id string) (string, bool) {
	records, err := testcluster.Records(id)
	if err != nil {
		return "", false
	}
	state := records[0]["JobState"]
	return state, testcluster.Terminal[state]
}
