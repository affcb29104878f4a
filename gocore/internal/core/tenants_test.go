// SPDX-License-Identifier: Apache-2.0

package core

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// TestMakeNamespace: by the tenants' credential, root's own, and never by the node's.
func TestMakeNamespace(t *testing.T) {
	if os.Getuid() != 0 {
		t.Fatal("run it as root: the credentials must be root's")
	}
	var mu sync.Mutex
	asked := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.Method+" "+r.URL.Path]++
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Success"}`))
	}))
	t.Cleanup(server.Close)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	directory := t.TempDir()
	write := func(name, server string, mode os.FileMode) string {
		path := filepath.Join(directory, name)
		text := "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: \"" + server + "\"}}]\nusers: [{name: u, user: {}}]\n" +
			"contexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n"
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		require.NoError(t, os.Chmod(path, mode))
		return path
	}
	config := site.Default()
	config.Namespace, config.Tenants.Create = "user-%u", true
	config.Kubeconfig = write("node.kubeconfig", "http://127.0.0.1:1", 0o600) // nobody is there
	place, err := config.NamespaceOf(site.Owner{User: "alice", Cluster: "lab", UID: 1001, GID: 1001})
	require.NoError(t, err)
	open := func() *cluster {
		c, err := openCluster(config)
		require.NoError(t, err)
		return c.in(place)
	}
	final := func(words string) {
		t.Helper()
		err := open().MakeNamespace(t.Context())
		assert.ErrorContains(t, err, words)
		assert.Equal(t, podstatus.ClassFinal, podstatus.ClassifyError(err))
	}
	final("tenants.kubeconfig: no such file")
	write("tenants.kubeconfig", server.URL, 0o640)
	final("others could read the credential")
	assert.Empty(t, asked)

	write("tenants.kubeconfig", server.URL, 0o600)
	require.NoError(t, open().MakeNamespace(t.Context()))
	assert.Equal(t, map[string]int{
		"POST /api/v1/namespaces":                                                    1,
		"POST /api/v1/namespaces/user-alice/resourcequotas":                          1,
		"POST /api/v1/namespaces/user-alice/limitranges":                             1,
		"POST /apis/rbac.authorization.k8s.io/v1/namespaces/user-alice/rolebindings": 2,
	}, asked)
}
