// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// renewing is a server that takes one token, and a client with a kubeconfig that has one.
func renewing(t *testing.T, check func(*os.File) error) (client *Client, takes *atomic.Value, put func(token string), bodies *[]string) {
	takes, bodies = &atomic.Value{}, &[]string{}
	takes.Store("first")
	server := httptest.NewTLSServer(http.HandlerFunc(func(to http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		*bodies = append(*bodies, string(body))
		if request.Header.Get("Authorization") != "Bearer "+takes.Load().(string) {
			status(401, metav1.StatusReasonUnauthorized, "Unauthorized")(to, request)
			return
		}
		object(corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: "p"}})(to, request)
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	put = func(token string) {
		require.NoError(t, os.WriteFile(file, []byte(fmt.Sprintf(`{"apiVersion": "v1", "kind": "Config", "current-context": "c",
 "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}], "clusters": [{"name": "c", "cluster": {"server": %q, "insecure-skip-tls-verify": true}}],
 "users": [{"name": "u", "user": {"token": %q}}]}`, server.URL, token)), 0o600))
	}
	put("first")
	client, err := Open(file, check)
	require.NoError(t, err)
	return client, takes, put, bodies
}

// A token that is replaced in the file is taken at once where the old one is not any more, and what was sent is sent again.
func TestTokenIsRenewed(t *testing.T) {
	client, takes, put, bodies := renewing(t, nil)
	_, err := client.GetPod(context.Background(), "slurm", "p")
	require.NoError(t, err)
	takes.Store("second")
	_, err = client.GetPod(context.Background(), "slurm", "p")
	assert.True(t, apierrors.IsUnauthorized(err), "%v", err)
	put("second")
	*bodies = nil
	_, err = client.CreatePod(context.Background(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "slurm", Name: "p"}})
	require.NoError(t, err)
	require.Len(t, *bodies, 2)
	assert.NotEmpty(t, (*bodies)[0])
	assert.Equal(t, (*bodies)[0], (*bodies)[1])
	*bodies = nil
	_, err = client.GetPod(context.Background(), "slurm", "p")
	require.NoError(t, err)
	assert.Len(t, *bodies, 1, "the new token is kept")
}

// A file that is not as it must be is not read: the old token stays, and the server's word is told.
func TestTokenOfAnotherFileIsNotTaken(t *testing.T) {
	wrong := false
	client, takes, put, _ := renewing(t, func(*os.File) error {
		if wrong {
			return errors.New("its mode is 0644")
		}
		return nil
	})
	takes.Store("second")
	put("second")
	wrong = true
	_, err := client.GetPod(context.Background(), "slurm", "p")
	assert.True(t, apierrors.IsUnauthorized(err), "%v", err)
	wrong = false
	_, err = client.GetPod(context.Background(), "slurm", "p")
	assert.NoError(t, err)
}
