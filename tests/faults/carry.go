// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// calm takes the daemons' measures and the last job id before anything happens.
func (w *world) calm() {
	records, _ := testcluster.Records("")
	for _, r := range records {
		var id int
		fmt.Sscan(r["JobId"], &id)
		w.lastBefore = max(w.lastBefore, id)
	}
}

// carryOut submits and strikes as the plan says, and returns when all is submitted and every fault is undone.
func (w *world) carryOut(ctx context.Context, p *plan) {
	context.AfterFunc(ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.broken = time.Now()
	})
	w.placed = map[int]*order{}
	for _, o := range p.orders {
		w.placed[o.number] = o
	}
	for _, o := range p.orders {
		w.waiting.Add(1)
		go func() {
			defer w.waiting.Done()
			if w.at(ctx, o.at) {
				w.submit(ctx, o)
			}
		}()
	}
	for _, s := range p.strikes {
		w.waiting.Add(1)
		go func() {
			defer w.waiting.Done()
			if w.at(ctx, s.at) {
				w.strike(ctx, s)
			}
		}()
	}
	w.waiting.Wait()
	if ctx.Err() != nil {
		w.log("broken off: what had not ended is cancelled and not judged")
	}
}

// at waits for a moment of the plan; false when the run is broken off.
func (w *world) at(ctx context.Context, moment time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(time.Until(w.began.Add(moment))):
		return true
	}
}

// as makes a command of a user's.
func (w *world) as(ctx context.Context, name string, words ...string) *exec.Cmd {
	u, _ := user.Lookup(name)
	args := []string{"--reuid=" + u.Uid, "--regid=" + u.Gid, "--init-groups", "env", "-i", "--chdir=/tmp",
		"HOME=" + filepath.Join(w.lab.Dir, "home", name), "USER=" + name, "LOGNAME=" + name, "SHELL=/bin/sh", "LANG=C.UTF-8",
		"PATH=" + filepath.Join(w.lab.Dir, "bin") + ":/usr/local/bin:/usr/bin:/bin", "SLURM_CONF=" + w.lab.Vars["SLURM_CONF"]}
	return exec.CommandContext(ctx, "setpriv", append(args, words...)...)
}

// submit tries until slurmctld takes the job, since daemons are killed meanwhile. A try whose answer got lost makes a
// job too: every job of the name is audited.
func (w *world) submit(ctx context.Context, o *order) {
	words, err := w.words(o)
	if err != nil {
		w.log("%s: %v", o.name(), err)
		return
	}
	whole := ctx
	// A queue that daemons' ends hold up is long: srun waits in it, too.
	ctx, cancel := context.WithTimeout(ctx, 2*time.Hour)
	defer cancel()
	for try := 1; ; try++ {
		var out []byte
		w.submitting.RLock()
		if o.kind.srun {
			w.submitting.RUnlock() // it stays until its end
			out, err = w.as(ctx, o.user, words...).CombinedOutput()
			w.mu.Lock()
			w.said[o] = string(out)
			w.mu.Unlock()
			// It has no place in the queue that outlives it: one that had a job is not tried again.
			if err == nil || w.known(o) {
				return
			}
		} else {
			limited, stop := context.WithTimeout(ctx, time.Minute)
			out, err = w.as(limited, o.user, words...).CombinedOutput()
			stop()
			w.submitting.RUnlock()
		}
		if err == nil {
			break
		}
		if whole.Err() != nil {
			return
		}
		w.log("%s (%s) is not taken: %s", o.name(), o.kind.name, strings.ReplaceAll(strings.TrimSpace(string(out)), "\n", "; "))
		if ctx.Err() != nil || try == 40 {
			w.finding(0, "%s could not be submitted: %s", o.name(), out)
			return
		}
		w.at(ctx, time.Since(w.began)+2*time.Second)
	}
	w.mu.Lock()
	w.submittedAt = time.Now()
	w.taken[o] = true
	w.mu.Unlock()
	if o.cancel > 0 {
		w.cancel(ctx, o)
	}
}

// known: a job of the order has been seen.
func (w *world) known(o *order) bool {
	w.watch.look()
	return len(w.jobsOf(o)) > 0
}

func (w *world) jobsOf(o *order) []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	var ids []int
	for id, other := range w.ids {
		if other == o {
			ids = append(ids, id)
		}
	}
	return ids
}

// cancel does so as the job's user, some time after the job has begun; slurmctld may be away meanwhile.
func (w *world) cancel(ctx context.Context, o *order) {
	begun := func() bool {
		for _, id := range w.jobsOf(o) {
			if w.ledger.begun(id) {
				return true
			}
		}
		return ctx.Err() != nil
	}
	testcluster.Until(8*time.Minute, begun)
	w.at(ctx, time.Since(w.began)+o.cancel)
	testcluster.Until(2*time.Minute, func() bool {
		return w.as(ctx, o.user, "scancel", "--name="+o.name()).Run() == nil || ctx.Err() != nil
	})
	if ctx.Err() == nil {
		w.log("%s is cancelled by its user", o.name())
	}
}

// settle waits until no job is left, as long as jobs end, and helps as an administrator would: requeued jobs need not wait
// for their time.
func (w *world) settle(ctx context.Context) {
	w.log("all is submitted and every fault is undone; waiting for %d jobs", len(w.watch.open()))
	cancelled := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(cancelled)
		testcluster.Run(30*time.Second, "scancel", "--user=alice")
		testcluster.Run(30*time.Second, "scancel", "--user=bob")
	})
	defer func() {
		if !stop() {
			<-cancelled
		}
	}()
	w.revive()
	started, ended, left := time.Now(), time.Now(), -1
	testcluster.Until(2*time.Hour, func() bool {
		open := w.watch.open()
		if len(open) != left {
			ended, left = time.Now(), len(open)
		}
		if time.Since(started) > 20*time.Second {
			for _, job := range open {
				if f := strings.Fields(job); len(f) == 3 && f[1] == "PENDING" && f[2] == "BeginTime" {
					testcluster.Run(10*time.Second, "scontrol", "update", "JobId="+f[0], "StartTime=now")
				}
			}
		}
		return len(open) == 0 || time.Since(ended) > 8*time.Minute
	})
}
