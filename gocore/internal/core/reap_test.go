// SPDX-License-Identifier: Apache-2.0

package core

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/kube"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// pods is an API server with Pods by name; what was asked of it is noted.
type pods struct {
	mu      sync.Mutex
	there   map[string]*corev1.Pod
	deleted []string
	fail    []int // of the next requests
}

func (p *pods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = io.Copy(io.Discard, r.Body)
	name := strings.TrimPrefix(r.URL.Path, "/api/v1/namespaces/slurm/pods/")
	w.Header().Set("Content-Type", "application/json")
	pod, code := p.there[name], 0
	switch {
	case len(p.fail) > 0:
		code, p.fail = p.fail[0], p.fail[1:]
	case pod == nil:
		code = http.StatusNotFound
	case r.Method == http.MethodDelete:
		p.deleted = append(p.deleted, name)
	}
	if code == 0 {
		_ = json.NewEncoder(w).Encode(pod)
		return
	}
	w.WriteHeader(code)
	reason := map[int]metav1.StatusReason{404: metav1.StatusReasonNotFound, 409: metav1.StatusReasonConflict, 403: metav1.StatusReasonForbidden}[code]
	_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Code: int32(code), Reason: reason})
}

// jobPod is job 7's on node n1 of cluster lab, changed.
func jobPod(changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{
		Name: "slurm-job-7", Namespace: "slurm", UID: "u",
		Labels: map[string]string{
			wellknown.LabelApp: wellknown.AppJob, wellknown.LabelJobID: "7", wellknown.LabelCluster: "lab", wellknown.LabelNode: "n1",
			wellknown.LabelIncarnation: "4",
		},
	}}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func label(key, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Labels[key] = value }
}

var reapCases = map[string]struct {
	pod     *corev1.Pod
	deleted bool
}{
	"this node's":             {jobPod(), true},
	"of another incarnation":  {jobPod(label(wellknown.LabelIncarnation, "0")), true},
	"another node's":          {jobPod(label(wellknown.LabelNode, "n2")), false},
	"another Slurm cluster's": {jobPod(label(wellknown.LabelCluster, "other")), false},
	"another job's":           {jobPod(label(wellknown.LabelJobID, "8")), false},
	"not a job's":             {jobPod(label(wellknown.LabelApp, "web")), false},
	"without labels":          {jobPod(func(p *corev1.Pod) { p.Labels = nil }), false},
	"being deleted already":   {jobPod(func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }), false},
	"none":                    {nil, false},
}

func TestReapPod(t *testing.T) {
	for name, test := range reapCases {
		t.Run(name, func(t *testing.T) {
			server, cluster := podServer(t, test.pod)
			removed, err := reapPod(t.Context(), cluster, job.Job{ID: 7, Step: "batch", Node: "n1", Cluster: "lab"}, site.Default())
			require.NoError(t, err)
			assert.Equal(t, test.deleted, removed != "")
			assert.Len(t, server.deleted, map[bool]int{true: 1}[test.deleted])
		})
	}
	for name, test := range map[string]struct {
		fail  []int
		fails bool
	}{
		"it went meanwhile":               {[]int{0, 404}, false},
		"another took its name meanwhile": {[]int{0, 409}, false},
		"it may not be read":              {[]int{403}, true},
		"it may not be deleted":           {[]int{0, 403}, true},
	} {
		t.Run(name, func(t *testing.T) {
			server, cluster := podServer(t, jobPod())
			server.fail = test.fail
			_, err := reapPod(t.Context(), cluster, job.Job{ID: 7, Step: "batch", Node: "n1", Cluster: "lab"}, site.Default())
			assert.Equal(t, test.fails, err != nil)
		})
	}
}

func podServer(t *testing.T, pod *corev1.Pod) (*pods, *cluster) {
	t.Helper()
	p := &pods{there: map[string]*corev1.Pod{}}
	if pod != nil {
		p.there[pod.Name] = pod
	}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	client, err := kube.New(&rest.Config{Host: server.URL, Transport: &http.Transport{DisableKeepAlives: true}})
	require.NoError(t, err)
	return p, &cluster{client: client, namespace: "slurm"}
}

// TestReap goes through root's files, as the epilog does.
func TestReap(t *testing.T) {
	if os.Getuid() != 0 {
		t.Fatal("run it as root: the files must be root's")
	}
	directory := t.TempDir()
	kubeconfig := filepath.Join(directory, "kubeconfig")
	config := filepath.Join(directory, "k8s.yaml")
	require.NoError(t, os.WriteFile(config, []byte("kubeconfig: "+kubeconfig+"\n"), 0o644))
	request := []string{"config=" + config, "job_id=7", "uid=1000", "cluster=lab", "node=n1", "batch=1"}
	serve := func(t *testing.T, p *pods) *httptest.Server {
		server := httptest.NewServer(p)
		t.Cleanup(server.Close)
		t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
		require.NoError(t, os.WriteFile(kubeconfig, []byte(strings.ReplaceAll(`apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "SERVER"}}]
users: [{name: u, user: {}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`, "SERVER", server.URL)), 0o600))
		return server
	}
	t.Run("removed, and logged", func(t *testing.T) {
		p := &pods{there: map[string]*corev1.Pod{"slurm-job-7": jobPod()}}
		serve(t, p)
		host := &fakeHost{}
		assert.Empty(t, Reap(host, request, 5*time.Second))
		assert.Equal(t, []string{"slurm-job-7"}, p.deleted)
		assert.Contains(t, host.log(), "job 7: epilog: Pod slurm-job-7 was left behind")
	})
	t.Run("nothing there, nothing said", func(t *testing.T) {
		serve(t, &pods{})
		host := &fakeHost{}
		assert.Empty(t, Reap(host, request, 5*time.Second))
		assert.Empty(t, host.log())
	})
	numbered := []string{"config=" + config, "job_id=7", "uid=1000", "cluster=lab", "node=n1", "step=0.1", "step=3.0.2", "step=4.2"}
	left := func() *pods {
		p := &pods{there: map[string]*corev1.Pod{}}
		for name, node := range map[string]string{
			"slurm-job-7": "n1", "slurm-job-7-step-0-1": "n1", "slurm-job-7-step-3-0": "n1", "slurm-job-7-step-3-het-2-0": "n1", "slurm-job-7-step-4-2": "n2", "slurm-job-7-step-5-0": "n1",
		} {
			p.there[name] = jobPod(label(wellknown.LabelNode, node), func(pod *corev1.Pod) { pod.Name = name })
		}
		return p
	}
	t.Run("numbered steps: those that are named, of this node", func(t *testing.T) {
		p := left()
		serve(t, p)
		host := &fakeHost{}
		assert.Empty(t, Reap(host, numbered, 5*time.Second))
		assert.Equal(t, []string{"slurm-job-7-step-0-1", "slurm-job-7-step-3-het-2-0"}, p.deleted)
		assert.Equal(t, 2, strings.Count(host.log(), "was left behind"))
	})
	t.Run("numbered steps and the batch script", func(t *testing.T) {
		p := left()
		serve(t, p)
		assert.Empty(t, Reap(&fakeHost{}, append(slices.Clone(numbered), "batch=1"), 5*time.Second))
		assert.Equal(t, []string{"slurm-job-7", "slurm-job-7-step-0-1", "slurm-job-7-step-3-het-2-0"}, p.deleted)
	})
	t.Run("one that fails keeps none from going", func(t *testing.T) {
		p := left()
		p.fail = []int{http.StatusForbidden}
		serve(t, p)
		assert.Empty(t, Reap(&fakeHost{}, numbered, 5*time.Second))
		assert.Equal(t, []string{"slurm-job-7-step-3-het-2-0", "slurm-job-7-step-0-1"}, p.deleted)
	})
	t.Run("nothing is named, nothing is asked", func(t *testing.T) {
		p := left()
		serve(t, p)
		assert.Empty(t, Reap(&fakeHost{}, numbered[:5], 5*time.Second))
		assert.Empty(t, p.deleted)
	})
	t.Run("Kubernetes is down: each is named, in one bound", func(t *testing.T) {
		serve(t, left()).Close()
		begun := time.Now()
		assert.Contains(t, Reap(&fakeHost{}, numbered, 300*time.Millisecond), "Pod slurm-job-7-step-0-1, slurm-job-7-step-3-het-2-0, slurm-job-7-step-4-2: ")
		assert.Less(t, time.Since(begun), 2*time.Second)
	})
	t.Run("no step", func(t *testing.T) {
		for _, step := range []string{"", "0", "x.0", "0.x", "0.0.x", "0.0.", "0.0.0.0", "-1.0", "4294967296.0"} {
			fields := append(slices.Clone(numbered), "step="+step)
			assert.Equal(t, fmt.Sprintf("step=%q is no step on a node", step), Reap(&fakeHost{}, fields, time.Second))
		}
	})
	t.Run("a fault is tried again", func(t *testing.T) {
		p := &pods{there: map[string]*corev1.Pod{"slurm-job-7": jobPod()}, fail: []int{http.StatusForbidden}}
		serve(t, p)
		assert.Empty(t, Reap(&fakeHost{}, request, 5*time.Second))
		assert.Equal(t, []string{"slurm-job-7"}, p.deleted)
	})
	t.Run("Kubernetes is down: it is named, in time", func(t *testing.T) {
		serve(t, &pods{}).Close()
		begun := time.Now()
		assert.Contains(t, Reap(&fakeHost{}, request, 300*time.Millisecond), "slurm-job-7")
		assert.Less(t, time.Since(begun), 2*time.Second)
	})
	t.Run("a credential that others can read", func(t *testing.T) {
		serve(t, &pods{})
		require.NoError(t, os.Chmod(kubeconfig, 0o644))
		assert.Contains(t, Reap(&fakeHost{}, request, time.Second), "others could read the credential")
	})
	t.Run("no configuration", func(t *testing.T) {
		assert.Contains(t, Reap(&fakeHost{}, []string{"config=" + directory + "/absent"}, time.Second), "absent")
	})
	t.Run("no job", func(t *testing.T) {
		assert.Contains(t, Reap(&fakeHost{}, []string{"config=" + config, "job_id=x"}, time.Second), "is no job")
	})
}
