// SPDX-License-Identifier: Apache-2.0

package submission

import (
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// need is the least that the script's node must give by Slurm's options alone: what is unclear
// counts as nothing, so that a refusal is certain.
type need struct {
	cpus      int64 // at least 1
	memoryMiB int64 // 0: nothing is known
	gres      []job.GRES
	wholeNode bool // --exclusive or --mem=0: the amounts are Slurm's node's
}

// needOf works out a request's need.
func needOf(r Request) need {
	text, _ := r.given("nodes")
	asked, ok := parseNodes(text)
	pinned := ok && asked.min == 1 && asked.max == 1

	n := need{cpus: 1}
	tasks := int64(1)
	if pinned {
		if count, ok := r.count("ntasks"); ok {
			tasks = count
		} else if count, ok := r.count("ntasks-per-node"); ok {
			tasks = count
		}
	}
	if count, ok := r.count("cpus-per-task"); ok {
		n.cpus = count
	}
	if _, given := r.Sbatch["overcommit"]; !given { // it gives one task's cpus to all of a node's
		n.cpus = bound(n.cpus * tasks)
	}
	if count, ok := r.count("mincpus"); ok {
		n.cpus = max(n.cpus, count)
	}
	n.gres = r.gres(pinned, tasks)
	gpus := int64(0)
	for _, one := range n.gres {
		if one.Name == "gpu" {
			gpus = bound(gpus + one.Count)
		}
	}
	if count, ok := r.count("cpus-per-gpu"); ok {
		n.cpus = max(n.cpus, bound(count*gpus))
	}
	n.memory(r, gpus)
	switch exclusive, given := r.Sbatch["exclusive"]; exclusive {
	case "", "exclusive", "1", "yes", "true", "set":
		n.wholeNode = n.wholeNode || given
	}
	return n
}

// memory reads the three ways of asking for it, of which Slurm takes one at a time.
func (n *need) memory(r Request, gpus int64) {
	if text, ok := r.given("mem"); ok {
		if mib, ok := parseMemory(text); ok {
			n.memoryMiB = bound(mib)
			n.wholeNode = n.wholeNode || mib == 0
			return
		}
	}
	if text, ok := r.given("mem-per-cpu"); ok {
		if mib, ok := parseMemory(text); ok {
			n.memoryMiB = bound(bound(mib) * n.cpus)
			return
		}
	}
	if text, ok := r.given("mem-per-gpu"); ok {
		if mib, ok := parseMemory(text); ok {
			n.memoryMiB = bound(bound(mib) * gpus)
		}
	}
}

// gres of the node. GPUs can be asked for in several ways at once, which overlap: the
// largest counts.
func (r Request) gres(pinned bool, tasks int64) []job.GRES {
	var others, gpus []job.GRES
	if text, ok := r.given("gres"); ok {
		for _, one := range parseGRES(text) {
			if one.Name == "gpu" {
				gpus = append(gpus, one)
			} else {
				others = append(others, one)
			}
		}
	}
	take := func(name string, factor int64) {
		text, ok := r.given(name)
		if !ok {
			return
		}
		asked := parseGPUs(text)
		for i := range asked {
			asked[i].Count = bound(asked[i].Count * factor)
		}
		if total(asked) > total(gpus) {
			gpus = asked
		}
	}
	take("gpus-per-node", 1)
	take("gpus-per-task", tasks)
	if pinned {
		take("gpus", 1)
	}
	return append(gpus, others...)
}

func total(list []job.GRES) int64 {
	sum := int64(0)
	for _, one := range list {
		sum = bound(sum + one.Count)
	}
	return sum
}

// bound keeps a product of two counts within what can be multiplied again.
func bound(n int64) int64 { return min(n, maxCount) }

// job is the need as the Pod's own arithmetic takes it. What a whole-node job gets is cut at
// run time to what Kubernetes' largest node has, unless the site refuses such jobs.
func (n need) job(rule string) job.Job {
	j := job.Job{CPUs: n.cpus, MemoryMiB: n.memoryMiB, GRES: n.gres}
	if n.wholeNode && rule != site.WholeNodeRefuse {
		j.CPUs, j.MemoryMiB = 1, 0
	}
	return j
}
