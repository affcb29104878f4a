// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{}) // as the core has it
	// client-go's own: where a connection breaks it ends with the next ping, 5 s later.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("k8s.io/client-go/tools/remotecommand.(*heartbeat).start"))
}

// request is what the API server saw, its body decoded.
type request struct {
	method, path string
	query        url.Values
	body         runtime.Object
}

// api is an API server of a script: each request takes the next answer of "METHOD path",
// the last one again and again.
type api struct {
	mu      sync.Mutex
	answers map[string][]answer
	seen    []request
}

// answer writes an answer; it may go on until the request's context ends.
type answer func(w http.ResponseWriter, r *http.Request)

const (
	podPath   = "/api/v1/namespaces/slurm/pods/slurm-job-7"
	watchPath = "/api/v1/namespaces/slurm/pods"
	mapsPath  = "/api/v1/namespaces/slurm/configmaps"
)

func (a *api) on(key string, answers ...answer) *api {
	if a.answers == nil {
		a.answers = map[string][]answer{}
	}
	a.answers[key] = append(a.answers[key], answers...)
	return a
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body)
	a.mu.Lock()
	seen := request{method: r.Method, path: r.URL.Path, query: r.URL.Query()}
	if len(text) > 0 {
		seen.body, _, _ = decoder().Decode(text, nil, nil)
	}
	a.seen = append(a.seen, seen)
	key := r.Method + " " + r.URL.Path
	if r.URL.Query().Get("watch") != "" {
		key = "WATCH " + r.URL.Path
	}
	next := status(http.StatusTeapot, "", key+" was not expected")
	if queue := a.answers[key]; len(queue) > 0 {
		next = queue[0]
		if len(queue) > 1 {
			a.answers[key] = queue[1:]
		}
	}
	a.mu.Unlock()
	next(w, r)
}

func (a *api) requests(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.seen {
		method := r.method
		if r.query.Get("watch") != "" {
			method = "WATCH " + r.query.Get("resourceVersion")
		}
		got = append(got, method)
	}
	require.Equal(t, want, got)
}

func decoder() runtime.Decoder {
	scheme := runtime.NewScheme()
	_ = corev1.AddToScheme(scheme)
	metav1.AddToGroupVersion(scheme, schemaV1)
	return serializer.NewCodecFactory(scheme).UniversalDeserializer()
}

// object answers with an object.
func object(o any) answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(o)
	}
}

func failure(code int, reason metav1.StatusReason, message string) metav1.Status {
	return metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
	}
}

// status answers with a failure.
func status(code int, reason metav1.StatusReason, message string) answer {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(failure(code, reason, message))
	}
}

var gone = status(http.StatusNotFound, metav1.StatusReasonNotFound, `pods "slurm-job-7" not found`)

func pod(uid, version string, phase corev1.PodPhase) *corev1.Pod {
	p := &corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}}
	p.Namespace, p.Name, p.UID, p.ResourceVersion, p.Status.Phase = "slurm", "slurm-job-7", types.UID(uid), version, phase
	return p
}

// memory carries requests to a handler without a network, so that a bubble's clock runs.
type memory struct{ handler http.Handler }

func (m memory) RoundTrip(r *http.Request) (*http.Response, error) {
	reader, writer := io.Pipe()
	w := &response{header: http.Header{}, body: writer, ready: make(chan int, 1)}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	done := make(chan struct{})
	go func() {
		select {
		case <-r.Context().Done():
			writer.CloseWithError(r.Context().Err())
		case <-done:
		}
	}()
	go func() {
		defer close(done)
		defer writer.Close()
		defer w.WriteHeader(http.StatusOK)
		m.handler.ServeHTTP(w, r)
	}()
	select {
	case code := <-w.ready:
		if code == hangsUp {
			return nil, errors.New("connect: connection refused")
		}
		return &http.Response{StatusCode: code, Status: fmt.Sprint(code), Header: w.header, Body: reader, Request: r, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// hangsUp as a status is a connection that breaks.
const hangsUp = 1

func down(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(hangsUp) }

type response struct {
	header http.Header
	body   *io.PipeWriter
	once   sync.Once
	ready  chan int
}

func (w *response) Header() http.Header { return w.header }
func (w *response) Flush()              {}

func (w *response) WriteHeader(code int) { w.once.Do(func() { w.ready <- code }) }

func (w *response) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

func inMemory(t *testing.T, a *api) *Client {
	t.Helper()
	client, err := New(&rest.Config{Host: "http://kubernetes.test", Transport: memory{a}})
	require.NoError(t, err)
	return client
}
