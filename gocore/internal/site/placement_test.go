// SPDX-License-Identifier: Apache-2.0

package site

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const placementText = `placement:
  mode: node
  node_label: example.com/slurm
  nodes: {n1: worker-1}
  user_labels: {zone: [east, west], rack: "*"}
  rules:
    - labels: {pool: [a, b]}
    - partitions: [gpu, big]
      tolerations: [{key: gpu, value: a100, effect: NoSchedule}]
      labels: {pool: [b, c]}
    - partitions: [gpu]
      qos: [urgent]
      accounts: [physics]
      priority_class: urgent
      mode: cluster
      spread: [{by: zone, required: yes}]
resources: {gres: {gpu: {resource: nvidia.com/gpu, runtime_class: nvidia}}}
`

func TestPlacementFor(t *testing.T) {
	config, err := Parse([]byte(placementText))
	require.NoError(t, err)
	for _, c := range []struct {
		partition, qos, account, node string
		want                          Place
	}{
		{"main", "urgent", "physics", "n1", Place{Labels: NodeLabels{"pool": {"a", "b"}, "example.com/slurm": {"worker-1"}}, Pinned: true}},
		{"main", "", "", "n2", Place{Labels: NodeLabels{"pool": {"a", "b"}, "example.com/slurm": {"n2"}}, Pinned: true}},
		{"main", "", "", "", Place{Labels: NodeLabels{"pool": {"a", "b"}}}},
		{"big", "urgent", "physics", "", Place{Labels: NodeLabels{"pool": {"b"}}, Tolerations: []Toleration{{"gpu", "a100", "NoSchedule"}}}},
		{"gpu", "urgent", "biology", "", Place{Labels: NodeLabels{"pool": {"b"}}, Tolerations: []Toleration{{"gpu", "a100", "NoSchedule"}}}},
		{"gpu", "urgent", "physics", "n1", Place{
			Labels: NodeLabels{"pool": {"b"}}, Tolerations: []Toleration{{"gpu", "a100", "NoSchedule"}},
			PriorityClass: "urgent", Spread: []Spread{{By: "zone", Required: true}},
		}},
	} {
		got, err := config.Placement.For(c.partition, c.qos, c.account, c.node)
		require.NoError(t, err)
		assert.Equal(t, c.want, got, c)
	}
	assert.Equal(t, []string{"example.com/slurm", "pool", "rack", "zone"}, config.NodeLabels())
	assert.Equal(t, []string{"runtime-class:nvidia", "toleration:gpu"}, config.Allow())
	assert.Empty(t, Default().Allow())
	assert.Empty(t, Default().NodeLabels())

	config.Placement.Rules[1].Labels = NodeLabels{"pool": {"c"}}
	_, err = config.Placement.For("gpu", "", "", "")
	assert.EqualError(t, err, "placement.rules[1] in k8s.yaml: no node can be labelled pool=a or b and pool=c")
}

func TestPlacementFaults(t *testing.T) {
	for text, want := range map[string]string{
		"mode: nodes":               `placement.mode: "nodes", must be one of cluster, node`,
		"node_label: a b":           `placement.node_label: "a b" is not a label's name`,
		"nodes: {n1: a b}":          `placement.nodes.n1: "a b" is not a label's value`,
		"nodes: {n1: ''}":           `placement.nodes.n1: ""`,
		"rule: []":                  `placement.rule: unknown key, did you mean "rules"?`,
		"rules: [{partition: [a]}]": `placement.rules[0].partition: unknown key, did you mean "partitions"?`,
		"rules: [{}, {mode: host}]": `placement.rules[1].mode: "host", must be one of`,
		"rules: [{priority_class: system-node-critical}]":   `placement.rules[0].priority_class: "system-node-critical" is for Kubernetes' own Pods`,
		"rules: [{priority_class: A_b}]":                    `placement.rules[0].priority_class: "A_b" is not the name`,
		"rules: [{labels: {a: b c}}]":                       `placement.rules[0].labels.a: "b c" is not a label's value`,
		"rules: [{tolerations: [{}]}]":                      `placement.rules[0].tolerations[0].key: "" is not a taint's key`,
		"rules: [{tolerations: [{key: a, effect: Never}]}]": `placement.rules[0].tolerations[0].effect: "Never", must be one of`,
		"rules: [{tolerations: [{key: a, value: b c}]}]":    `placement.rules[0].tolerations[0].value: "b c" is not`,
		"rules: [{spread: [{by: ''}]}]":                     `placement.rules[0].spread[0].by: "" is not a label's name`,
		"rules: [{spread: [{by: a}, {by: a}]}]":             `placement.rules[0].spread[1].by: "a" is there twice`,
		"rules: [{spread: [{by: a, max_skew: -1}]}]":        `placement.rules[0].spread[0].max_skew: -1, must be at least 1`,
		"user_labels: {a/b/c: d}":                           `placement.user_labels: "a/b/c" is not a label's name`,
		"user_labels: {a: []}":                              `placement.user_labels.a: no value`,
		"user_labels: {a: b c}":                             `placement.user_labels.a: "b c" is not a label's value`,
	} {
		_, err := Parse([]byte("placement: {" + text + "}"))
		assert.ErrorContains(t, err, want, text)
	}
	_, err := Parse([]byte("placement: {user_labels: {a: '*', b: ['*']}}"))
	assert.NoError(t, err)
}
