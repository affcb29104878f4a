// SPDX-License-Identifier: Apache-2.0

package wellknown

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation"
)

func TestNames(t *testing.T) {
	assert.Equal(t, "slurm-job-4294967295", PodName(4294967295, StepBatch, "", 0))
	assert.Equal(t, "slurm-job-7", PodName(7, StepBatch, "", 3), "a batch script has one node")
	assert.Equal(t, "slurm-job-7-step-0-1", PodName(7, "0", "", 1))
	assert.Equal(t, "slurm-job-7-step-0-het-2-1", PodName(7, "0", "2", 1))
	longest := PodName(4294967295, "4294967279", "127", 1<<20) + "-4294967295"
	assert.Empty(t, validation.IsDNS1123Label(longest), "it is the Pod's host name too")
	name := PodinitConfigMap([]byte("podinit"))
	assert.Regexp(t, `^slurm-k8s-podinit-[0-9a-f]{16}$`, name)
	assert.NotEqual(t, name, PodinitConfigMap([]byte("other")))
	for _, label := range []string{LabelApp, LabelJobID, LabelUser, LabelCluster, LabelStep, LabelNode, LabelNodeID, LabelIncarnation, AnnotationUser, AnnotationSession, AnnotationGPUs} {
		assert.Empty(t, validation.IsQualifiedName(label))
	}
}

func TestLabelValue(t *testing.T) {
	for _, same := range []string{"", "alice", "a.b_c-D9", strings.Repeat("a", 63)} {
		assert.Equal(t, same, LabelValue(same))
	}
	for text, want := range map[string]string{
		"a b":                        `^a-b-x[0-9a-f]{16}$`,
		"alice@EXAMPLE.ORG":          `^alice-EXAMPLE.ORG-x[0-9a-f]{16}$`,
		"-a-":                        `^a-x[0-9a-f]{16}$`,
		"@@":                         `^x[0-9a-f]{16}$`,
		"é":                          `^x[0-9a-f]{16}$`,
		"a-x0123456789abcdef":        `^a-x0123456789abcdef-x[0-9a-f]{16}$`,
		"x0123456789abcdef":          `^x0123456789abcdef-x[0-9a-f]{16}$`,
		strings.Repeat("long.", 100): `^(long\.)+-?lo.*-x[0-9a-f]{16}$|^(long\.)+l?o?n?g?-x[0-9a-f]{16}$`,
	} {
		assert.Regexp(t, want, LabelValue(text))
	}
}

func FuzzLabelValue(f *testing.F) {
	f.Add("a", "a b")
	f.Add("x0123456789abcdef", "@@")
	f.Add("a-b", "a b")
	f.Fuzz(func(t *testing.T, a, b string) {
		va, vb := LabelValue(a), LabelValue(b)
		require.Empty(t, validation.IsValidLabelValue(va), va)
		require.Equal(t, a == b, va == vb)
	})
}
