// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/kube"
)

// request is what the API server saw.
type request struct{ method, path, query, accept, body string }

// serve answers by method and path, "GET /api/v1/nodes?continue" where a token came, and
// returns a cluster on it and what was asked.
func serve(t *testing.T, answers map[string]any) (RESTCluster, *[]request) {
	t.Helper()
	seen := &[]request{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*seen = append(*seen, request{r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Get("Accept"), string(body)})
		key := r.Method + " " + r.URL.Path
		if r.URL.Query().Get("continue") != "" {
			key += "?continue"
		}
		w.Header().Set("Content-Type", "application/json")
		answer, ok := answers[key]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			answer = metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Reason: metav1.StatusReasonNotFound, Code: 404}
		}
		json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	client, err := kube.New(&rest.Config{Host: server.URL})
	require.NoError(t, err)
	return RESTCluster{REST: client.REST}, seen
}

var (
	podKind  = metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}
	nodeKind = metav1.TypeMeta{Kind: "NodeList", APIVersion: "v1"}
)

func TestListsComeInPages(t *testing.T) {
	cluster, seen := serve(t, map[string]any{
		"GET /api/v1/namespaces/slurm/pods":          corev1.PodList{TypeMeta: podKind, ListMeta: metav1.ListMeta{Continue: "next"}, Items: []corev1.Pod{pod("1", nil)}},
		"GET /api/v1/namespaces/slurm/pods?continue": corev1.PodList{TypeMeta: podKind, Items: []corev1.Pod{pod("2", nil)}},
		"GET /api/v1/nodes":                          corev1.NodeList{TypeMeta: nodeKind, ListMeta: metav1.ListMeta{Continue: "next"}, Items: []corev1.Node{node("a", nil)}},
		"GET /api/v1/nodes?continue":                 corev1.NodeList{TypeMeta: nodeKind, Items: []corev1.Node{node("b", nil)}},
		"GET /api/v1/namespaces/slurm/configmaps": metav1.PartialObjectMetadataList{
			TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"},
			Items:    []metav1.PartialObjectMetadata{{ObjectMeta: metav1.ObjectMeta{Name: "x", UID: "u"}}},
		},
	})
	pods, err := cluster.ListPods(t.Context(), "slurm", selectorAll)
	require.NoError(t, err)
	require.Len(t, pods, 2)
	assert.Equal(t, "slurm-job-2", pods[1].Name)
	assert.Contains(t, (*seen)[0].query, "labelSelector=app%3Dslurm-job")
	assert.Contains(t, (*seen)[1].query, "continue=next")

	var names []string
	require.NoError(t, cluster.EachNode(t.Context(), func(n *corev1.Node) { names = append(names, n.Name) }))
	assert.Equal(t, []string{"a", "b"}, names)

	objects, err := cluster.ListConfigMaps(t.Context(), "slurm")
	require.NoError(t, err)
	require.Len(t, objects, 1)
	assert.Equal(t, "x", objects[0].Name)
	assert.Contains(t, (*seen)[len(*seen)-1].accept, "as=PartialObjectMetadataList")
}

func TestAPageThatFailsFailsTheList(t *testing.T) {
	cluster, _ := serve(t, map[string]any{
		"GET /api/v1/namespaces/slurm/pods": corev1.PodList{TypeMeta: podKind, ListMeta: metav1.ListMeta{Continue: "next"}, Items: []corev1.Pod{pod("1", nil)}},
	})
	_, err := cluster.ListPods(t.Context(), "slurm", selectorAll)
	assert.Error(t, err)
}

func TestWrites(t *testing.T) {
	status := metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Success"}
	cluster, seen := serve(t, map[string]any{
		"DELETE /api/v1/namespaces/slurm/pods/p":            status,
		"DELETE /api/v1/namespaces/slurm/configmaps/c":      status,
		"POST /api/v1/namespaces/slurm/configmaps":          status,
		"PUT /api/v1/namespaces/slurm/configmaps/the-nodes": status,
	})
	require.NoError(t, cluster.DeletePod(t.Context(), "slurm", "p", "the-uid", 0))
	require.NoError(t, cluster.DeleteConfigMap(t.Context(), "slurm", "c", "the-uid"))
	for _, r := range *seen {
		assert.Contains(t, r.body, "the-uid", "the precondition")
	}
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "slurm", Name: "the-nodes"}}
	require.NoError(t, cluster.ApplyConfigMap(t.Context(), object))
	object.ResourceVersion = "7"
	require.NoError(t, cluster.ApplyConfigMap(t.Context(), object))
	assert.Equal(t, []string{"POST", "PUT"}, []string{(*seen)[2].method, (*seen)[3].method})

	_, err := cluster.GetConfigMap(t.Context(), "slurm", "none")
	assert.Error(t, err)
}
