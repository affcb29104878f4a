// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// ShapesVersion is written into the published JSON; another one is refused.
const ShapesVersion = 1

// maxShapes bounds the JSON: a ConfigMap holds 1 MiB.
const maxShapes = 1 << 20

// Shapes are the kinds of node that the cluster has, published by the collector in
// wellknown.NodesConfigMap, so that nobody lists nodes for a question.
type Shapes struct {
	V int `json:"v"`
	// Autoscaler: other nodes may come, so that nothing can be said never to fit.
	Autoscaler bool      `json:"autoscaler"`
	At         time.Time `json:"at"`
	// Labels are the keys of which the shapes say what their nodes have; of no other is anything known.
	Labels []string `json:"labels,omitempty"`
	Shapes []Shape  `json:"shapes"`
}

// Shape is what nodes of one kind can give to Pods (their allocatable), and how many there are.
type Shape struct {
	CPU       int64             `json:"cpu"`    // thousandths of a cpu
	Memory    int64             `json:"memory"` // bytes
	Resources map[string]int64  `json:"resources,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	Count     int               `json:"count"`
}

// ParseShapes reads the published JSON. Unknown keys are ignored: the collector may be newer.
func ParseShapes(data []byte) (Shapes, error) {
	var s Shapes
	if len(data) > maxShapes {
		return s, fmt.Errorf("the published node shapes have %d bytes", len(data))
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return Shapes{}, fmt.Errorf("the published node shapes cannot be read: %w", err)
	}
	if s.V != ShapesVersion {
		return Shapes{}, fmt.Errorf("the published node shapes have version %d, not %d", s.V, ShapesVersion)
	}
	for _, shape := range s.Shapes {
		if shape.CPU < 0 || shape.Memory < 0 || shape.Count < 0 {
			return Shapes{}, fmt.Errorf("the published node shapes have a negative amount")
		}
	}
	return s, nil
}

// EncodeShapes is the JSON to publish: equal shapes become one, in a fixed order, so that
// the same nodes give the same text but for At.
func EncodeShapes(s Shapes) ([]byte, error) {
	s.V, s.At = ShapesVersion, s.At.UTC().Truncate(time.Second)
	s.Shapes = merged(s.Shapes)
	return json.Marshal(s)
}

// Same tells whether two sets say the same but for their time: then nothing is to be published.
func (s Shapes) Same(other Shapes) bool {
	other.At = s.At
	a, errA := EncodeShapes(s)
	b, errB := EncodeShapes(other)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

func merged(shapes []Shape) []Shape {
	out := make([]Shape, 0, len(shapes))
	for _, shape := range shapes {
		if shape.Count == 0 {
			continue
		}
		same := func(s Shape) bool {
			return s.CPU == shape.CPU && s.Memory == shape.Memory && maps.Equal(s.Resources, shape.Resources) && maps.Equal(s.Labels, shape.Labels)
		}
		if i := slices.IndexFunc(out, same); i >= 0 {
			out[i].Count += shape.Count
			continue
		}
		out = append(out, shape)
	}
	// By size; the JSON of equal sizes is unique, since they differ in resources or labels.
	slices.SortFunc(out, func(a, b Shape) int {
		ja, _ := json.Marshal([]any{a.CPU, a.Memory, a.Resources, a.Labels})
		jb, _ := json.Marshal([]any{b.CPU, b.Memory, b.Resources, b.Labels})
		return bytes.Compare(ja, jb)
	})
	return out
}
