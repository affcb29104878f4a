// SPDX-License-Identifier: Apache-2.0

package job

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

func TestRecordOfCluster(t *testing.T) {
	text := Record{Cluster: "lab"}.Encode()
	assert.Equal(t, `{"slurm-k8s":1,"cluster":"lab"}`, text)
	record, _ := ParseAdminComment(text)
	assert.Equal(t, "lab", record.Cluster)
	assert.NotContains(t, Record{}.Encode(), "cluster")
	assert.LessOrEqual(t, len(Record{Cluster: strings.Repeat("x", 1<<16)}.Encode()), 200)
}

// The namespace in a record is of the cluster that stands beside it.
func TestNamespaceOfCluster(t *testing.T) {
	for comment, want := range map[string]string{
		`{"slurm-k8s":1,"cluster":"a","namespace":"user-old"}`: "user-old",
		`{"slurm-k8s":1,"cluster":"b","namespace":"user-old"}`: "user-alice",
		`{"slurm-k8s":1,"namespace":"user-old"}`:               "user-alice",
	} {
		config := site.Default()
		config.Kubernetes, config.Namespace = "a", "user-%u"
		place, err := Job{User: "alice", AdminComment: comment}.NamespaceOf(config)
		require.NoError(t, err)
		assert.Equal(t, want, place.Name, comment)
	}
}

func TestClusterOption(t *testing.T) {
	start := []string{"job_id=7", "step_id=batch", "uid=1000", "gid=1000", "node=n1", "option.image=a"}
	j, err := FromFields(append(start, "option.cluster=lab"))
	require.NoError(t, err)
	assert.Equal(t, "lab", j.Options.Cluster)
	_, err = FromFields(append(start, "option.cluster=../lab"))
	assert.ErrorContains(t, err, `--k8s-cluster: not the name of a cluster: "../lab"`)
}
