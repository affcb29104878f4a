// SPDX-License-Identifier: Apache-2.0

package podstatus

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLacking(t *testing.T) {
	for message, want := range map[string][]string{
		"": nil,
		"0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.":                                                      {"cpu"},
		"0/1 nodes are available: 1 Insufficient memory. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.":                      {"memory"},
		"0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) had untolerated taint(s), 2 Insufficient cpu. preemption: 0/3 nodes are available: 1 Insufficient ephemeral-storage.": {"nvidia.com/gpu", "cpu"},
		"0/2 nodes are available: 2 Too many pods.":                                                         {"pods"},
		"0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector. preemption: 0/2 ...": nil,
	} {
		assert.Equal(t, want, Lacking(message), message)
	}
}
