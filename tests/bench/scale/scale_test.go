// SPDX-License-Identifier: Apache-2.0

package scale

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/gauge"
)

func TestJobOfARequest(t *testing.T) {
	q := gauge.Request{}
	q.Object.Name = "slurm-job-12-step-0-0"
	require.Equal(t, "12", jobOf(q))
	q.Object.Name, q.URI = "", "/api/v1/namespaces/slurm/pods?fieldSelector=metadata.name%3Dslurm-job-34&watch=true"
	require.Equal(t, "34", jobOf(q))
	q.Object.Name, q.URI = "slurm-k8s-podinit-0011223344556677", "/api/v1/namespaces/slurm/configmaps/slurm-k8s-podinit-0011223344556677"
	require.Empty(t, jobOf(q))
}
