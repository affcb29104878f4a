// SPDX-License-Identifier: Apache-2.0

package fakekubelet

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// failing is an API server that fails so many requests, and what it and the kubelet saw.
type failing struct {
	mu    sync.Mutex
	fails int
	asked []string
	log   []string
}

func (f *failing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, r.Method+" "+r.URL.Path)
	w.Header().Set("Content-Type", "application/json")
	if f.fails--; f.fails >= 0 {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no leader","code":500}`))
		return
	}
	_, _ = w.Write([]byte(`{"kind":"Pod","apiVersion":"v1"}`))
}

func kubeletOf(t *testing.T, api *failing) *Kubelet {
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	client, err := rest.RESTClientFor(&rest.Config{Host: server.URL, APIPath: "/api", ContentConfig: rest.ContentConfig{
		GroupVersion: &corev1.SchemeGroupVersion, NegotiatedSerializer: scheme.Codecs.WithoutConversion(),
	}})
	require.NoError(t, err)
	log := func(text string) {
		api.mu.Lock()
		defer api.mu.Unlock()
		api.log = append(api.log, text)
	}
	return &Kubelet{
		Config: Config{Client: client, Name: "fake", Log: log}, address: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)},
		pause: time.Millisecond, pods: map[types.UID]*fakePod{},
	}
}

func pending() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "slurm", Name: "slurm-job-1", UID: "1"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "job", Command: []string{podinitProgram, "--session=1f"}}}},
		Status:     corev1.PodStatus{Phase: corev1.PodPending},
	}
}

const status = "PATCH /api/v1/namespaces/slurm/pods/slurm-job-1/status"

func TestAPodsStatusIsToldAgain(t *testing.T) {
	api := &failing{fails: 2}
	k := kubeletOf(t, api)
	k.take(t.Context(), pending())
	k.running.Wait()
	require.Equal(t, []string{status, status, status}, api.asked)
	require.Len(t, api.log, 2)
	k.take(t.Context(), pending())
	k.running.Wait()
	require.Len(t, api.asked, 3, "it is known, and was told")

	api.fails = 1
	k.ended(t.Context(), k.find("slurm", "slurm-job-1"))
	require.Len(t, api.asked, 5, "so is its end")
}

func TestAPodThatCannotBeToldIsTakenAnew(t *testing.T) {
	api := &failing{fails: tries}
	k := kubeletOf(t, api)
	k.take(t.Context(), pending())
	k.running.Wait()
	require.Len(t, api.asked, tries)
	require.Contains(t, api.log[tries-1], "slurm/slurm-job-1: no leader; given up after 5 tries")
	require.Empty(t, k.all())
	k.take(t.Context(), pending())
	k.running.Wait()
	require.Len(t, api.asked, tries+1)
	require.Len(t, k.all(), 1)
}

func TestAPodIsRemovedAtLast(t *testing.T) {
	api := &failing{fails: 1}
	k := kubeletOf(t, api)
	pod := pending()
	pod.DeletionTimestamp = new(metav1.Now())
	k.take(t.Context(), pod)
	k.running.Wait()
	remove := "DELETE /api/v1/namespaces/slurm/pods/slurm-job-1"
	require.Equal(t, []string{remove, remove}, api.asked)
}

// A client that reads nothing does not hold the one that writes to it for ever.
func TestAStalledPumpIsClosed(t *testing.T) {
	wrote := make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := upgrader.Upgrade(w, r, nil)
		pump := &execStream{conn: conn, limit: 50 * time.Millisecond}
		for piece := make([]byte, 1<<20); err == nil; {
			_, err = pump.Write(piece)
		}
		wrote <- err
	}))
	t.Cleanup(server.Close)
	conn, _, err := websocket.DefaultDialer.Dial(strings.Replace(server.URL, "http", "ws", 1), nil)
	require.NoError(t, err)
	defer conn.Close()
	require.ErrorContains(t, <-wrote, "timeout")
}
