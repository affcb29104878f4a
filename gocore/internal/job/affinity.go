// SPDX-License-Identifier: Apache-2.0

package job

import (
	"math/bits"
)

// CPUs are a task's cpus, and those of its step: bitmaps of one length, cpu 0 is bit 0 of
// the first byte. Untrusted: the task's process on the Slurm node says them.
type CPUs struct{ Task, Step []byte }

// Affinity makes of the cpus that the step's local tasks are bound to on the Slurm node,
// numbered as there, what the Pod can use: places among the step's cpus. Nil, for a task,
// where Slurm has not bound it to fewer than the step's, or the step has no cpus of its own.
// Step has as many first bits as the Pod asks for cpus, at most.
//
// What srun was told is followed. What Slurm chose is, where it shares out all that the step has: a node
// that pretends to be larger than its machine (config_overrides) puts tasks with cpus of their own on one.
func (j Job) Affinity(tasks []*CPUs) []*CPUs {
	places := make([]*CPUs, len(tasks))
	if j.Overlap || len(tasks) == 0 || !j.CPUBind && int64(ones(together(tasks))) < j.CPUs {
		return places
	}
	step := j.stepCPUs(tasks)
	count := ones(step)
	for i, task := range tasks {
		if task == nil {
			continue
		}
		if place := placesAmong(task.Task, step); ones(place) > 0 && ones(place) < count {
			places[i] = &CPUs{Task: place, Step: firstOnes(min(int64(count), j.CPUs), len(place))}
		}
	}
	return places
}

// stepCPUs are the step's cpus on this Slurm node: what the kernel confines its tasks to.
// Where that is more than Slurm gave, since the site confines nothing (ConstrainCores=no),
// it is what the tasks have together, if that is as much.
func (j Job) stepCPUs(tasks []*CPUs) []byte {
	var confined []byte
	for _, task := range tasks {
		if task != nil {
			confined = union(confined, task.Step)
		}
	}
	if all := together(tasks); int64(ones(confined)) > j.CPUs && int64(ones(all)) >= j.CPUs {
		return all
	}
	return confined
}

// together are the cpus that any of the tasks is bound to.
func together(tasks []*CPUs) []byte {
	var all []byte
	for _, task := range tasks {
		if task != nil {
			all = union(all, task.Task)
		}
	}
	return all
}

// placesAmong numbers a task's cpus by their places among the step's.
func placesAmong(task, step []byte) []byte {
	places := make([]byte, len(step))
	place := 0
	for cpu := range 8 * len(step) {
		if !bit(step, cpu) {
			continue
		}
		if bit(task, cpu) {
			places[place/8] |= 1 << (place % 8)
		}
		place++
	}
	return places
}

// firstOnes is a bitmap of so many bytes with its first bits set.
func firstOnes(count int64, size int) []byte {
	bitmap := make([]byte, size)
	for i := range count {
		bitmap[i/8] |= 1 << (i % 8)
	}
	return bitmap
}

func bit(bitmap []byte, i int) bool {
	return i/8 < len(bitmap) && bitmap[i/8]>>(i%8)&1 == 1
}

func union(a, b []byte) []byte {
	both := make([]byte, max(len(a), len(b)))
	copy(both, a)
	for i := range b {
		both[i] |= b[i]
	}
	return both
}

func ones(bitmap []byte) int {
	count := 0
	for _, b := range bitmap {
		count += bits.OnesCount8(b)
	}
	return count
}
