// SPDX-License-Identifier: Apache-2.0

package submission

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
)

// Sketch fills in what Slurm would give a batch job of this request, as far as the request
// tells: on one node, with every task there. unclear says what it does not tell.
func (r Request) Sketch(j *job.Job) (unclear []string) {
	one := Request{Sbatch: map[string]string{}}
	for name, value := range r.Sbatch {
		one.Sbatch[name] = value
	}
	one.Sbatch["nodes"] = "1"
	n := needOf(one)
	j.CPUs, j.MemoryMiB, j.GRES, j.Tasks, j.Nodes = n.cpus, n.memoryMiB, n.gres, 1, 1
	if n.wholeNode {
		unclear = append(unclear, "cpus and memory: all of a Slurm node's")
	} else if n.memoryMiB == 0 {
		unclear = append(unclear, "memory: Slurm's default")
	}
	j.Account, _ = r.given("account")
	j.Name, _ = r.given("job-name")
	j.QOS, _ = r.given("qos")
	partitions, _ := r.given("partition")
	j.Partition, _, _ = strings.Cut(partitions, ",")
	if text, ok := r.given("time"); ok {
		if limit, ok := parseTime(text); ok {
			j.TimeLimit = limit
		}
	} else {
		unclear = append(unclear, "activeDeadlineSeconds: the partition's time limit")
	}
	return unclear
}

// longest is some 290 years in seconds, which a Duration holds. A limit beyond it is none.
const longest = uint64((math.MaxInt64 - time.Minute) / time.Second)

// parseTime reads Slurm's time limits: M, M:S, H:M:S, D-H, D-H:M, D-H:M:S. 0 is none.
func parseTime(text string) (time.Duration, bool) {
	switch strings.ToUpper(text) {
	case "UNLIMITED", "INFINITE", "-1":
		return 0, true
	}
	units := []time.Duration{time.Minute, time.Second}
	days, rest, dashed := strings.Cut(text, "-")
	var sum uint64 // seconds: more than a Duration holds may be typed
	if dashed {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil {
			return 0, false
		}
		sum, units = n*uint64(24*time.Hour/time.Second), []time.Duration{time.Hour, time.Minute, time.Second}
	} else {
		rest = text
	}
	parts := strings.Split(rest, ":")
	if len(parts) == 3 && !dashed {
		units = []time.Duration{time.Hour, time.Minute, time.Second}
	}
	if len(parts) > len(units) {
		return 0, false
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 31)
		if err != nil {
			return 0, false
		}
		sum += n * uint64(units[i]/time.Second)
	}
	if sum > longest {
		return 0, true
	}
	// Slurm's limits are whole minutes.
	return (time.Duration(sum)*time.Second + time.Minute - 1).Truncate(time.Minute), true
}
