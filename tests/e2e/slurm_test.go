// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"strings"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// The scripts' cluster, and what is asked of it over and over.
var (
	lab        *testcluster.Cluster
	run        = testcluster.Run
	until      = testcluster.Until
	jobRecords = testcluster.Records
	terminal   = testcluster.Terminal
)

type record = testcluster.Record

// namespace of the jobs' Pods.
const namespace = testcluster.Namespace

// accounting is one field of the job's record in slurmdbd, a line for each incarnation.
func accounting(id, field string) (string, error) {
	out, err := run(20*time.Second, "sacct", "-X", "-n", "-P", "-D", "-j", id, "-o", field)
	return strings.TrimSpace(out), err
}
