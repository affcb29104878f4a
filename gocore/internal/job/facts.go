// SPDX-License-Identifier: Apache-2.0

package job

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Merge adds what slurmctld says of the job (gocore.h, job_facts). Whose the job is must
// agree with the start request; the job is unchanged where Merge fails.
//
// Of a batch step slurmctld knows this node's part of the allocation better than the
// step's own items do; another step may have asked for less than the allocation.
func (j *Job) Merge(facts []string) error {
	f := newFields(facts)
	n := *j
	uid, gid := j.UID, j.GID
	number(f, "user_id", 1<<32-1, &uid)
	number(f, "group_id", 1<<32-1, &gid)
	f.textOr("user_name", &n.User)
	f.textOr("home", &n.Home)
	f.text("account", &n.Account)
	f.text("partition", &n.Partition)
	f.text("qos", &n.QOS)
	f.text("name", &n.Name)
	f.text("state", &n.State)
	f.text("admin_comment", &n.AdminComment)
	number(f, "restart_count", 1<<32-1, &n.Restarts)
	number(f, "array_job_id", 1<<32-1, &n.ArrayJobID)
	number(f, "array_task_id", 1<<32-1, &n.ArrayTaskID)
	f.text("tres", &n.TRES)
	f.text("batch_host", &n.BatchHost)
	f.flag("requeue", &n.Requeue)
	f.flag("exclusive", &n.Exclusive)
	f.flag("whole_memory", &n.WholeMemory)
	f.timeLimit(&n.TimeLimit)
	var cpus, memory int64
	number(f, "cpus", maxCPUs, &cpus)
	number(f, "memory_mb", maxMemoryMiB, &memory)
	n.CPUs, n.MemoryMiB = n.share(n.CPUs, cpus), n.share(n.MemoryMiB, memory)
	if value, ok := f.values["gres"]; ok {
		gres, err := ParseGRES(value)
		if err != nil {
			f.fail("gres: %w", err)
		}
		n.GRES, n.NodeGPUs = gres, parseNodeGPUs(value)
	}
	switch {
	case f.err != nil:
		return f.err
	case uid != j.UID:
		return fmt.Errorf("job %d is uid %d's, as Slurm says; the start request says uid %d", j.ID, uid, j.UID)
	case gid != j.GID:
		return fmt.Errorf("job %d is gid %d's, as Slurm says; the start request says gid %d", j.ID, gid, j.GID)
	}
	if err := n.checkIdentity(); err != nil {
		return err
	}
	if n.CPUs == 0 {
		return errors.New("no cpus of the job on this node, as Slurm says")
	}
	*j = n
	return nil
}

// MergeOwner adds what NamespaceOf asks for, and checks nothing.
func (j *Job) MergeOwner(facts []string) error {
	f := newFields(facts)
	f.textOr("user_name", &j.User)
	f.text("account", &j.Account)
	f.text("admin_comment", &j.AdminComment)
	return f.err
}

// share chooses between the step's own amount and the allocation's; 0 is unknown.
func (j Job) share(step, allocation int64) int64 {
	switch {
	case allocation == 0:
		return step
	case step == 0 || j.IsBatch():
		return allocation
	}
	return min(step, allocation)
}

// textOr is text for a key whose empty value says nothing.
func (f *fields) textOr(key string, to *string) {
	if f.values[key] != "" {
		f.text(key, to)
	}
}

// maxLimit: from here on a time limit is none. Slurm's own INFINITE and NO_VAL (2^32-1
// and 2^32-2 minutes) lie beyond it, and a Duration ends at 292 years.
const maxLimit = 100 * 365 * 24 * 60 // minutes

// timeLimit reads minutes, or UNLIMITED. Slurm's 0 asks for no limit, too.
func (f *fields) timeLimit(to *time.Duration) {
	value, ok := f.values["time_limit"]
	if !ok {
		return
	}
	if strings.EqualFold(value, "UNLIMITED") {
		*to = 0
		return
	}
	minutes, err := strconv.ParseUint(value, 10, 32)
	if err != nil {
		f.fail("time_limit: %q is neither minutes nor UNLIMITED", value)
		return
	}
	*to = 0
	if minutes < maxLimit {
		*to = time.Duration(minutes) * time.Minute
	}
}
