// SPDX-License-Identifier: Apache-2.0

package site

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func said(faults []Fault) []string {
	var lines []string
	for _, f := range faults {
		lines = append(lines, f.At("k8s.yaml"))
	}
	return lines
}

func TestCheckFindsEveryFaultWithItsLine(t *testing.T) {
	config, faults := Check([]byte(`namespace: No
gates: {}
gate:
  wait: 1m
  wait_max: 30s
  grace: 300
  autoscaler: maybe
legacy_comments: 7
pod:
  shm_size: yes
  pull_policy: Always
requeue: [10s]
resources:
  gres:
    gpu: [4]
    "a b": x.y/z
submission:
  required_directives: time
  insecure_registries:
    - hub:5000
    -
    - "http://x"
output: {rate: fast}
namespace: jobs
`))
	assert.Nil(t, config)
	assert.Equal(t, []string{
		`k8s.yaml:2: gates: unknown key, did you mean "gate"?`,
		"k8s.yaml:5: gate.wait_max: 30s, must be from 1m0s to 24h0m0s",
		`k8s.yaml:6: gate.grace: 300 is not a duration such as "30s" or "5m"`,
		`k8s.yaml:7: gate.autoscaler: "maybe" is neither yes nor no`,
		"k8s.yaml:8: legacy_comments: 7 is neither yes nor no",
		"k8s.yaml:10: pod.shm_size: true is not a text",
		`k8s.yaml:12: requeue: ["10s"] is not a table of keys (KEY: VALUE)`,
		`k8s.yaml:14: resources.gres: "a b" is not NAME or NAME:TYPE of a Slurm GRES`,
		"k8s.yaml:15: resources.gres.gpu: [4] is neither an extended resource such as nvidia.com/gpu nor a table of resource, factor, labels, runtime_class and devices",
		`k8s.yaml:18: submission.required_directives: "time" is not a list (["time"])`,
		`k8s.yaml:19: submission.insecure_registries: "http://x" is not HOST or HOST:PORT`,
		"k8s.yaml:21: submission.insecure_registries[1]: is empty",
		`k8s.yaml:23: output.rate: "fast" is not a whole number`,
		"k8s.yaml:24: namespace: given twice, first in line 1",
	}, said(faults))
}

func TestCheckOfWhatIsNoYAML(t *testing.T) {
	_, faults := Check([]byte("namespace: a\ngate:\n\twait: 1s\n"))
	require.Len(t, faults, 1)
	assert.Equal(t, 3, faults[0].Line, faults)
	_, faults = Check([]byte("namespace: a\n---\nnamespace: b\n"))
	require.Len(t, faults, 1)
	assert.Equal(t, "k8s.yaml:2: a second document in the file would not be read", faults[0].At("k8s.yaml"))
}

func TestCheckTakesAmountsAsNumbers(t *testing.T) {
	config, faults := Check([]byte("resources: {reserve: {cpu: 1.5, memory: 4000000000}}\n"))
	require.Empty(t, faults)
	assert.Equal(t, Reserve{CPU: "1.5", Memory: "4000000000"}, config.Resources.Reserve)
}

func TestCheckTakesAnchors(t *testing.T) {
	config, faults := Check([]byte("gate: {wait: &t 40s, grace: 5s}\nrequeue: {backoff: *t}\n"))
	require.Empty(t, faults)
	assert.Equal(t, config.Gate.Wait, config.Requeue.Backoff)
	_, faults = Check([]byte("gate: &g {wait: 40s}\nrequeue: *g\n"))
	assert.Equal(t, []string{"k8s.yaml:2: requeue.wait: unknown key"}, said(faults))
}

// The plugin reads this key by itself, a line's beginning and YAML's usual words (spank/config.c): what
// it would not see is a fault, since sbatch would leave such jobs on the host without a word.
func TestLegacyCommentsMustBeAsThePluginReadsThem(t *testing.T) {
	for _, text := range []string{
		"legacy_comments: yes\n", "cluster: x\nlegacy_comments:\tTrue # why\r\n", "legacy_comments: on", "legacy_comments: no", "{legacy_comments: no}", "legacy_comments : off\n",
	} {
		_, faults := Check([]byte(text))
		assert.Empty(t, faults, "%q", text)
	}
	for _, text := range []string{
		"legacy_comments: y\n", "legacy_comments : yes\n", "{legacy_comments: yes}\n", "\"legacy_comments\": yes\n", "legacy_comments: !!bool yes\n", "legacy_comments:\n  yes\n", " legacy_comments: yes\n",
	} {
		_, faults := Check([]byte(text))
		assert.Equal(t, []string{`k8s.yaml:1: legacy_comments: sbatch does not see it so: write "legacy_comments: yes" on a line of its own, without indentation`}, said(faults), "%q", text)
	}
}
