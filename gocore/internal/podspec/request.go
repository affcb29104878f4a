// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

const (
	mebibyte = int64(1) << 20
	// overhead is podinit's own memory (rings of 8 MiB together, script, arguments), added
	// so that the task has all that Slurm gave.
	overhead = 16 * mebibyte
)

// overheadOf is the overhead of many tasks: each has two rings of 64 KiB at least, its
// arguments and its environment.
func overheadOf(tasks int) int64 { return overhead + int64(max(0, tasks-1)/4)*mebibyte }

// Request is what a Pod asks of one node.
type Request struct {
	CPUMilli  int64 // 0: none
	Memory    int64 // bytes; 0: none
	Resources map[string]int64
	// Labels that the node must have.
	Labels site.NodeLabels
	// RuntimeClass of the Pod, or "".
	RuntimeClass string
}

// RequestFor is a step's request: Slurm's cpus, its memory and podinit's, and its GRES
// by the site's table, where NAME:TYPE goes before NAME, and the labels that its place wants. One that overlaps has no cpus of
// its own; it runs on what its Kubernetes node has to spare.
func RequestFor(j job.Job, config *site.Config) (Request, error) {
	if j.CPUs <= 0 || j.CPUs > math.MaxInt64/1000 {
		return Request{}, fmt.Errorf("%d cpus cannot be asked of Kubernetes", j.CPUs)
	}
	var r Request
	if !j.Overlap {
		r.CPUMilli = j.CPUs * 1000
	}
	if j.MemoryMiB < 0 || j.MemoryMiB > (math.MaxInt64-overheadOf(j.Tasks))/mebibyte {
		return Request{}, fmt.Errorf("%d MiB of memory cannot be asked of Kubernetes", j.MemoryMiB)
	}
	if j.MemoryMiB > 0 {
		r.Memory = j.MemoryMiB*mebibyte + overheadOf(j.Tasks)
	}
	place, err := placeOf(j, config)
	if err != nil {
		return Request{}, err
	}
	r.Labels = place.Labels
	for _, g := range j.GRES {
		if g.Count <= 0 {
			continue
		}
		if err := r.add(g, config); err != nil {
			return Request{}, err
		}
	}
	return r, nil
}

// add adds a GRES by the site's table.
func (r *Request) add(g job.GRES, config *site.Config) error {
	name := g.Name
	if g.Type != "" {
		name += ":" + g.Type
	}
	entry, found := config.Resources.Of(g.Name, g.Type)
	if !found {
		return fmt.Errorf("no Kubernetes resource is configured for gres %q (resources.gres in k8s.yaml)", name)
	}
	var err error
	if r.Labels, err = r.Labels.And(entry.Labels); err != nil {
		return fmt.Errorf("gres %q: %w", name, err)
	}
	switch {
	case entry.RuntimeClass == "":
	case r.RuntimeClass != "" && r.RuntimeClass != entry.RuntimeClass:
		return fmt.Errorf("gres %q needs the runtime class %q, and another of the job's gres %q", name, entry.RuntimeClass, r.RuntimeClass)
	default:
		r.RuntimeClass = entry.RuntimeClass
	}
	if entry.Resource == "" {
		return nil
	}
	amount, ok := entry.Amount(g.Count)
	if !ok || r.Resources[entry.Resource] > math.MaxInt64-amount {
		return fmt.Errorf("too many of %s", entry.Resource)
	}
	if r.Resources == nil {
		r.Resources = map[string]int64{}
	}
	r.Resources[entry.Resource] += amount
	return nil
}

// RequestOf is what a Pod asks for, as RequestFor made it.
func RequestOf(pod *corev1.Pod) Request {
	var r Request
	if pod == nil {
		return r
	}
	r.Labels = labelsOf(&pod.Spec)
	if pod.Spec.RuntimeClassName != nil {
		r.RuntimeClass = *pod.Spec.RuntimeClassName
	}
	for i := range pod.Spec.Containers {
		for name, quantity := range pod.Spec.Containers[i].Resources.Requests {
			switch name {
			case corev1.ResourceCPU:
				r.CPUMilli += quantity.MilliValue()
			case corev1.ResourceMemory:
				r.Memory += quantity.Value()
			default:
				if r.Resources == nil {
					r.Resources = map[string]int64{}
				}
				r.Resources[string(name)] += quantity.Value()
			}
		}
	}
	return r
}

// list is the request as Kubernetes writes it.
func (r Request) list() corev1.ResourceList {
	list := corev1.ResourceList{}
	if r.CPUMilli > 0 {
		list[corev1.ResourceCPU] = *resource.NewMilliQuantity(r.CPUMilli, resource.DecimalSI)
	}
	if r.Memory > 0 {
		list[corev1.ResourceMemory] = *resource.NewQuantity(r.Memory, resource.BinarySI)
	}
	for name, count := range r.Resources {
		list[corev1.ResourceName(name)] = *resource.NewQuantity(count, resource.DecimalSI)
	}
	return list
}

// String is the request in a sentence: "4 cpus, 8Gi of memory and 2 nvidia.com/gpu".
func (r Request) String() string {
	parts := []string{cpus(r.CPUMilli)}
	if r.CPUMilli == 0 {
		parts[0] = "no cpus"
	}
	if r.Memory > 0 {
		parts = append(parts, bytesOf(r.Memory)+" of memory")
	}
	for _, name := range slices.Sorted(maps.Keys(r.Resources)) {
		parts = append(parts, fmt.Sprintf("%d %s", r.Resources[name], name))
	}
	if len(r.Labels) > 0 {
		parts = append(parts, "a node labelled "+r.Labels.String())
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

func cpus(milli int64) string {
	text := resource.NewMilliQuantity(milli, resource.DecimalSI).AsDec().String()
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if text == "1" {
		return "1 cpu"
	}
	return text + " cpus"
}

// bytesOf rounds to whole MiB, or GiB where that is exact.
func bytesOf(bytes int64) string {
	mib := bytes / mebibyte
	if mib >= 1024 && mib%1024 == 0 {
		return fmt.Sprintf("%d GiB", mib/1024)
	}
	return fmt.Sprintf("%d MiB", mib)
}
