// SPDX-License-Identifier: Apache-2.0

package core

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// TestReapInEachCluster: a Pod may be in any, and in one that the job has left for another.
func TestReapInEachCluster(t *testing.T) {
	if os.Getuid() != 0 {
		t.Fatal("run it as root: the files must be root's")
	}
	directory := t.TempDir()
	config := filepath.Join(directory, "k8s.yaml")
	text := "clusters:\n"
	for _, name := range []string{"one", "two", "away"} {
		text += fmt.Sprintf("- {name: %s, kubeconfig: %s/%s}\n", name, directory, name)
	}
	require.NoError(t, os.WriteFile(config, []byte(text), 0o644))
	serve := func(name string, p *pods) {
		server := httptest.NewServer(p)
		t.Cleanup(server.Close)
		t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
		if p == nil {
			server.Close()
		}
		require.NoError(t, os.WriteFile(filepath.Join(directory, name), fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "%s"}}]
users: [{name: u, user: {}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`, server.URL), 0o600))
	}
	one := &pods{there: map[string]*corev1.Pod{"slurm-job-7": jobPod()}}
	two := &pods{there: map[string]*corev1.Pod{"slurm-job-7": jobPod()}}
	serve("one", one)
	serve("two", two)
	serve("away", nil)
	left := Reap(&fakeHost{}, []string{"config=" + config, "job_id=7", "uid=1000", "cluster=lab", "node=n1", "batch=1"}, time.Second)
	assert.Regexp(t, `^cluster away: Pod slurm-job-7: .*connection refused`, left)
	assert.Equal(t, []string{"slurm-job-7"}, one.deleted)
	assert.Equal(t, []string{"slurm-job-7"}, two.deleted)
}
