// SPDX-License-Identifier: Apache-2.0

package site

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// NodeLabels say what a Kubernetes node must be labelled with: each key with one of its values.
type NodeLabels map[string]Values

// Values is a list of texts; in the file a single one may stand without brackets.
type Values []string

// UnmarshalJSON takes a text or a list of them. YAML's yes, true and 1 are none.
func (v *Values) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil && string(data) != "null" {
		*v = Values{one}
		return nil
	}
	var many []string
	if err := json.Unmarshal(data, &many); err != nil || many == nil {
		return fmt.Errorf("%s is neither a text nor a list of texts (a number, yes and true want quotes)", data)
	}
	*v = many
	return nil
}

// MarshalJSON is the form that UnmarshalJSON takes.
func (v Values) MarshalJSON() ([]byte, error) {
	if len(v) == 1 {
		return json.Marshal(v[0])
	}
	return json.Marshal([]string(v))
}

// And is the labels that both ask for. It fails where no node could have both.
func (l NodeLabels) And(other NodeLabels) (NodeLabels, error) {
	if len(other) == 0 {
		return l, nil
	}
	both := maps.Clone(l)
	if both == nil {
		both = NodeLabels{}
	}
	for _, key := range slices.Sorted(maps.Keys(other)) {
		mine, asked := both[key]
		if !asked {
			both[key] = other[key]
			continue
		}
		both[key] = slices.DeleteFunc(slices.Clone(mine), func(value string) bool { return !slices.Contains(other[key], value) })
		if len(both[key]) == 0 {
			return nil, fmt.Errorf("no node can be labelled %s and %s", label(key, mine), label(key, other[key]))
		}
	}
	return both, nil
}

// String is "a=b, c=d or e".
func (l NodeLabels) String() string {
	parts := make([]string, 0, len(l))
	for _, key := range slices.Sorted(maps.Keys(l)) {
		parts = append(parts, label(key, l[key]))
	}
	return strings.Join(parts, ", ")
}

func label(key string, values Values) string { return key + "=" + strings.Join(values, " or ") }

// labels checks keys and values by Kubernetes' rules.
func (f *faults) labels(key string, labels NodeLabels) {
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if problem := labelKey(name); problem != nil {
			f.add(key, "%q is not a label's name: %s", name, problem)
		}
		if len(labels[name]) == 0 {
			f.add(key+"."+name, "no value is given")
		}
		for _, value := range labels[name] {
			if problems := validation.IsValidLabelValue(value); len(problems) > 0 {
				f.add(key+"."+name, "%q is not a label's value: %s", value, problems[0])
			}
		}
	}
}

func labelKey(name string) error {
	if problems := validation.IsQualifiedName(name); len(problems) > 0 {
		return errors.New(problems[0])
	}
	return nil
}
