// SPDX-License-Identifier: Apache-2.0

package site

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// What placement.mode may be.
const (
	PlaceCluster = "cluster" // kube-scheduler chooses
	PlaceNode    = "node"    // the Pod stays on the Slurm node's own machine
)

// Placement says on which Kubernetes nodes Pods may be, and with what priority.
type Placement struct {
	Mode string `json:"mode"`
	// NodeLabel is the label by which a Slurm node's Kubernetes node is found in mode node.
	NodeLabel string `json:"node_label"`
	// Nodes are the label's values by Slurm's NodeName, where they differ.
	Nodes map[string]string `json:"nodes,omitempty"`
	// Rules apply in their order, each that matches the job.
	Rules []PlacementRule `json:"rules,omitempty"`
	// UserLabels are what --k8s-node-selector may name; "*" is any value.
	UserLabels NodeLabels `json:"user_labels,omitempty"`
}

// PlacementRule is for jobs that match each of its lists; an empty list matches all.
type PlacementRule struct {
	Partitions []string `json:"partitions,omitempty"`
	QOS        []string `json:"qos,omitempty"`
	Accounts   []string `json:"accounts,omitempty"`

	Mode          string       `json:"mode,omitempty"`           // the last one counts
	PriorityClass string       `json:"priority_class,omitempty"` // the last one counts
	Labels        NodeLabels   `json:"labels,omitempty"`
	Tolerations   []Toleration `json:"tolerations,omitempty"`
	Spread        []Spread     `json:"spread,omitempty"`
}

// Toleration of taints with this key, and value and effect where they are given.
type Toleration struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect,omitempty"`
}

// Spread keeps the Pods of one step apart.
type Spread struct {
	// By is the label whose values are the places to spread over.
	By string `json:"by"`
	// MaxSkew: by how many Pods two places may differ; 0 is 1.
	MaxSkew int32 `json:"max_skew,omitempty"`
	// Required: rather wait than be uneven.
	Required bool `json:"required,omitempty"`
}

// Place is what the rules come to for one job.
type Place struct {
	PriorityClass string
	Labels        NodeLabels
	Tolerations   []Toleration
	Spread        []Spread
	// Pinned: the Kubernetes node is the Slurm node's own machine.
	Pinned bool
}

// everPinned tells whether there are jobs whose Pods stay on the Slurm node's own machine.
func (p Placement) everPinned() bool {
	return p.Mode == PlaceNode || slices.ContainsFunc(p.Rules, func(r PlacementRule) bool { return r.Mode == PlaceNode })
}

// For is the place of a job on a Slurm node; an empty node asks for no node of its own.
func (p Placement) For(partition, qos, account, node string) (Place, error) {
	var place Place
	mode := p.Mode
	for i, rule := range p.Rules {
		if !matches(rule.Partitions, partition) || !matches(rule.QOS, qos) || !matches(rule.Accounts, account) {
			continue
		}
		if rule.Mode != "" {
			mode = rule.Mode
		}
		if rule.PriorityClass != "" {
			place.PriorityClass = rule.PriorityClass
		}
		var err error
		if place.Labels, err = place.Labels.And(rule.Labels); err != nil {
			return Place{}, fmt.Errorf("placement.rules[%d] in k8s.yaml: %w", i, err)
		}
		place.Tolerations = append(place.Tolerations, rule.Tolerations...)
		place.Spread = append(place.Spread, rule.Spread...)
	}
	if mode != PlaceNode || node == "" {
		return place, nil
	}
	value, named := p.Nodes[node]
	if !named {
		value = node
	}
	labels, err := place.Labels.And(NodeLabels{p.NodeLabel: {value}})
	if err != nil {
		return Place{}, fmt.Errorf("placement of Slurm's node %q: %w", node, err)
	}
	place.Labels, place.Pinned = labels, true
	return place, nil
}

func matches(list []string, name string) bool { return len(list) == 0 || slices.Contains(list, name) }

// MayChoose tells why a user may not ask for these labels.
func (p Placement) MayChoose(labels NodeLabels) error {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		allowed, known := p.UserLabels[key]
		if !known && len(p.UserLabels) == 0 {
			return errors.New("this site does not let jobs choose their nodes (placement.user_labels in k8s.yaml)")
		}
		if !known {
			return fmt.Errorf("this site does not let jobs choose their nodes by %q (but by %s)", key, strings.Join(slices.Sorted(maps.Keys(p.UserLabels)), ", "))
		}
		for _, value := range labels[key] {
			if !slices.Contains(allowed, value) && !slices.Contains(allowed, "*") {
				return fmt.Errorf("this site does not let jobs choose %q for %q (but %s)", value, key, strings.Join(allowed, ", "))
			}
		}
	}
	return nil
}

// nodeLabels are the keys of the labels that placement names.
func (p Placement) nodeLabels() []string {
	keys := slices.Collect(maps.Keys(p.UserLabels))
	byNode := p.Mode == PlaceNode
	for _, rule := range p.Rules {
		keys = append(keys, slices.Collect(maps.Keys(rule.Labels))...)
		byNode = byNode || rule.Mode == PlaceNode
	}
	if byNode {
		keys = append(keys, p.NodeLabel)
	}
	return keys
}

func (c *Config) validatePlacement(f *faults) {
	p := c.Placement
	f.oneOf("placement.mode", p.Mode, PlaceCluster, PlaceNode)
	if problem := labelKey(p.NodeLabel); problem != nil {
		f.add("placement.node_label", "%q is not a label's name: %s", p.NodeLabel, problem)
	}
	for _, node := range slices.Sorted(maps.Keys(p.Nodes)) {
		if problems := validation.IsValidLabelValue(p.Nodes[node]); len(problems) > 0 || p.Nodes[node] == "" {
			f.add("placement.nodes."+node, "%q is not a label's value: %s", p.Nodes[node], strings.Join(problems, "; "))
		}
	}
	for i, rule := range p.Rules {
		f.rule(fmt.Sprintf("placement.rules[%d]", i), rule)
	}
	plain := NodeLabels{}
	for key, values := range p.UserLabels {
		plain[key] = slices.DeleteFunc(slices.Clone(values), func(value string) bool { return value == "*" })
		if len(plain[key]) == 0 && len(values) > 0 {
			plain[key] = Values{""}
		}
	}
	f.labels("placement.user_labels", plain)
}

func (f *faults) rule(at string, rule PlacementRule) {
	if rule.Mode != "" {
		f.oneOf(at+".mode", rule.Mode, PlaceCluster, PlaceNode)
	}
	if strings.HasPrefix(rule.PriorityClass, "system-") {
		f.add(at+".priority_class", "%q is for Kubernetes' own Pods", rule.PriorityClass)
	} else if rule.PriorityClass != "" {
		f.objectName(at+".priority_class", rule.PriorityClass)
	}
	f.labels(at+".labels", rule.Labels)
	for i, t := range rule.Tolerations {
		below := fmt.Sprintf("%s.tolerations[%d]", at, i)
		if problem := labelKey(t.Key); problem != nil {
			f.add(below+".key", "%q is not a taint's key: %s", t.Key, problem)
		}
		if problems := validation.IsValidLabelValue(t.Value); len(problems) > 0 {
			f.add(below+".value", "%q is not a taint's value: %s", t.Value, problems[0])
		}
		if t.Effect != "" {
			f.oneOf(below+".effect", t.Effect, "NoSchedule", "PreferNoSchedule", "NoExecute")
		}
	}
	seen := map[string]bool{}
	for i, s := range rule.Spread {
		below := fmt.Sprintf("%s.spread[%d]", at, i)
		if problem := labelKey(s.By); problem != nil {
			f.add(below+".by", "%q is not a label's name: %s", s.By, problem)
		}
		if s.MaxSkew < 0 {
			f.add(below+".max_skew", "%d, must be at least 1", s.MaxSkew)
		}
		if seen[s.By] {
			f.add(below+".by", "%q is there twice", s.By)
		}
		seen[s.By] = true
	}
}
