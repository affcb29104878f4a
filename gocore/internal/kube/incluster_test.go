// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// account is a folder as Kubernetes mounts it, and the API server that it is for.
func account(t *testing.T, token string) string {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer good" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: "p"}})
	}))
	t.Cleanup(server.Close)
	host, port, err := net.SplitHostPort(server.Listener.Addr().String())
	require.NoError(t, err)
	t.Setenv("KUBERNETES_SERVICE_HOST", host)
	t.Setenv("KUBERNETES_SERVICE_PORT", port)
	folder := t.TempDir()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	require.NoError(t, os.WriteFile(filepath.Join(folder, "ca.crt"), ca, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "token"), []byte(token+"\n"), 0o400))
	return folder
}

func TestInCluster(t *testing.T) {
	folder := account(t, "good")
	client, err := Open(site.KubeconfigInCluster+":"+folder, func(f *os.File) error {
		assert.Equal(t, filepath.Join(folder, "token"), f.Name())
		return nil
	})
	require.NoError(t, err)
	pod, err := client.GetPod(t.Context(), "slurm", "p")
	require.NoError(t, err)
	assert.Equal(t, "p", pod.Name)

	client, err = Open(site.KubeconfigInCluster+":"+account(t, "bad"), nil)
	require.NoError(t, err)
	_, err = client.GetPod(t.Context(), "slurm", "p")
	assert.ErrorContains(t, err, "provide credentials")

	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	client, err = Open(site.KubeconfigInCluster+":"+folder, nil)
	require.NoError(t, err)
	assert.Equal(t, "https://kubernetes.default.svc:443", client.config.Host)
}

func TestInClusterFaults(t *testing.T) {
	_, err := Open(site.KubeconfigInCluster+":"+account(t, "good"), func(*os.File) error { return errors.New("mode 0644") })
	assert.EqualError(t, err, "kubeconfig: in-cluster: mode 0644 (in a Pod: a projected volume with defaultMode: 0400)")
	_, err = Open(site.KubeconfigInCluster+":"+t.TempDir(), nil)
	assert.ErrorContains(t, err, "does this process run in a Pod?")
	folder := account(t, "good")
	require.NoError(t, os.Remove(filepath.Join(folder, "ca.crt")))
	_, err = Open(site.KubeconfigInCluster+":"+folder, nil)
	assert.ErrorContains(t, err, "ca.crt")
}
