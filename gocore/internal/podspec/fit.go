// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// Holds tells whether any node could ever hold the request, were it empty; if not, why.
// True also where nothing can be said: an autoscaler, or no node known.
func (s Shapes) Holds(r Request) (bool, string) {
	if s.Autoscaler || len(s.Shapes) == 0 {
		return true, ""
	}
	labelled := s.labelled(r)
	if len(labelled) == 0 {
		return false, "no node is labelled " + r.Labels.String()
	}
	if slices.ContainsFunc(labelled, func(shape Shape) bool { return shape.holds(r) }) {
		return true, ""
	}
	var largest Shape
	for _, shape := range labelled {
		largest.CPU = max(largest.CPU, shape.CPU)
		largest.Memory = max(largest.Memory, shape.Memory)
		for name, count := range shape.Resources {
			if largest.Resources == nil {
				largest.Resources = map[string]int64{}
			}
			largest.Resources[name] = max(largest.Resources[name], count)
		}
	}
	var whys []string
	if r.CPUMilli > largest.CPU {
		whys = append(whys, fmt.Sprintf("%s (the largest has %s)", cpus(r.CPUMilli), cpus(largest.CPU)))
	}
	if r.Memory > largest.Memory {
		whys = append(whys, fmt.Sprintf("%s of memory (the largest has %s)", bytesOf(r.Memory), bytesOf(largest.Memory)))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Resources)) {
		if want, have := r.Resources[name], largest.Resources[name]; want > have {
			whys = append(whys, fmt.Sprintf("%d %s (the most is %d)", want, name, have))
		}
	}
	if len(whys) == 0 {
		return false, "no one node has " + r.String() + " together"
	}
	return false, "no node has " + strings.Join(whys, ", nor ")
}

// labelled are the shapes of nodes that have the labels, as far as anything is known of these.
func (s Shapes) labelled(r Request) []Shape {
	return slices.DeleteFunc(slices.Clone(s.Shapes), func(shape Shape) bool {
		for key, values := range r.Labels {
			if value, has := shape.Labels[key]; slices.Contains(s.Labels, key) && !(has && slices.Contains(values, value)) {
				return true
			}
		}
		return false
	})
}

func (shape Shape) holds(r Request) bool {
	if r.CPUMilli > shape.CPU || r.Memory > shape.Memory {
		return false
	}
	return shape.hasResources(r)
}

func (shape Shape) hasResources(r Request) bool {
	for name, count := range r.Resources {
		if count > shape.Resources[name] {
			return false
		}
	}
	return true
}

// Least that a clamped job keeps: one cpu and, beside podinit's, some memory.
const (
	leastCPU    = int64(1000)
	leastMemory = overhead + 64*mebibyte
)

// Clamp cuts the cpus and memory of a whole-node job to what the best node that has its
// extended resources and labels can give beside the reserve: Slurm's node may be larger than any of
// Kubernetes'. A request that some node holds, and every other resource, stays as it is.
// cut tells whether anything was.
func Clamp(r Request, s Shapes, reserve site.Reserve) (clamped Request, cut bool, err error) {
	cpu, memory, err := amounts(reserve)
	if err != nil {
		return r, false, err
	}
	best, found := Request{}, false
	for _, shape := range s.labelled(r) {
		if !shape.hasResources(r) {
			continue
		}
		room := Shape{CPU: shape.CPU - cpu, Memory: shape.Memory - memory, Resources: shape.Resources}
		if room.holds(r) {
			return r, false, nil
		}
		// Whole cpus, as Slurm's are.
		c := Request{
			CPUMilli: min(r.CPUMilli, max(room.CPU/1000*1000, leastCPU)),
			Memory:   min(r.Memory, max(room.Memory/mebibyte*mebibyte, leastMemory)),
		}
		if !found || c.CPUMilli > best.CPUMilli || c.CPUMilli == best.CPUMilli && c.Memory > best.Memory {
			best, found = c, true
		}
	}
	if !found {
		return r, false, nil
	}
	best.Resources, best.Labels, best.RuntimeClass = r.Resources, r.Labels, r.RuntimeClass
	return best, true, nil
}

func amounts(reserve site.Reserve) (cpu, memory int64, err error) {
	read := func(key, text string, of func(*resource.Quantity) int64) int64 {
		if text == "" || err != nil {
			return 0
		}
		q, fault := site.ParseQuantity(text)
		if fault != nil || q.Sign() < 0 {
			err = fmt.Errorf("resources.reserve.%s: %q is not a quantity", key, text)
			return 0
		}
		return of(&q)
	}
	cpu = read("cpu", reserve.CPU, (*resource.Quantity).MilliValue)
	memory = read("memory", reserve.Memory, (*resource.Quantity).Value)
	return cpu, memory, err
}
