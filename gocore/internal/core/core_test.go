// SPDX-License-Identifier: Apache-2.0

package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/kube"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/stream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeHost is a slurmstepd, whose job is running.
type fakeHost struct {
	mu      sync.Mutex
	lines   []string
	updates []string
}

func (h *fakeHost) Facts(uint32) ([]string, error) { return []string{"state=RUNNING"}, nil }
func (h *fakeHost) Requeue(uint32) error           { return errors.New("not expected") }
func (h *fakeHost) EndStep(_, _ uint32) error      { return errors.New("not expected") }
func (h *fakeHost) StepFacts(_, _ uint32) ([]string, error) {
	return nil, errors.New("not expected")
}
func (h *fakeHost) CompleteOutOfMemory(uint32) error {
	return errors.New("not expected")
}
func (h *fakeHost) Final(error) bool     { return true }
func (h *fakeHost) NoRequeue(error) bool { return false }
func (h *fakeHost) Ended(error) bool     { return false }
func (h *fakeHost) Amend(uint32, []string) (string, bool, error) {
	return "", false, errors.New("not expected")
}

func (h *fakeHost) Update(_ uint32, fields []string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.updates = append(h.updates, fields...)
	return nil
}

func (h *fakeHost) Log(level int, line string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, fmt.Sprint(level, " ", line))
}

func (h *fakeHost) log() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.lines, "\n")
}

// relay is a relay's end of its socket; the other is the core's descriptor.
func relay(t *testing.T) (net.Conn, int) {
	t.Helper()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	file := os.NewFile(uintptr(pair[0]), "relay")
	conn, err := net.FileConn(file)
	require.NoError(t, err)
	file.Close()
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	return conn, pair[1]
}

func hello(t *testing.T, conn net.Conn) {
	t.Helper()
	records, err := stream.EncodeStart([]stream.Launch{{Argv: []string{"/bin/true"}}})
	require.NoError(t, err)
	require.NoError(t, stream.NewWriter(conn, 0).Write(stream.Frame{Type: stream.TypeHello, Payload: records}))
}

// told reads what a relay is told up to its EXIT: the notices, and the wait status.
func told(t *testing.T, conn net.Conn) (notices string, status uint32) {
	t.Helper()
	reader := stream.NewReader(conn, 0)
	defer reader.Release()
	for {
		f, err := reader.Next()
		require.NoError(t, err)
		switch f.Type {
		case stream.TypeData:
			notices += string(f.Payload)
		case stream.TypeExit:
			return notices, uint32(f.Payload[0])<<24 | uint32(f.Payload[1])<<16 | uint32(f.Payload[2])<<8 | uint32(f.Payload[3])
		}
	}
}

// TestFaultIsToldToTheRelay: a node that is not set up fails the job with a line in its
// output, and nothing else; the handle is good all the same.
func TestFaultIsToldToTheRelay(t *testing.T) {
	directory := t.TempDir()
	request := func(config string) []string {
		return []string{"config=" + config, "libexec=" + directory, "job_id=7", "step_id=batch", "uid=1000", "gid=1000", "node=n1", "option.image=tiny"}
	}
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(directory, name)
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
		return path
	}
	for name, test := range map[string]struct {
		request []string
		words   string
	}{
		"no file":           {request(directory + "/absent.yaml"), "absent.yaml"},
		"a key that is not": {request(file("typo.yaml", "namespaze: slurm\n", 0o600)), "typo.yaml"},
		"anybody's":         {request(file("open.yaml", "namespace: slurm\n", 0o600)), ""},
	} {
		t.Run(name, func(t *testing.T) {
			conn, fd := relay(t)
			host := &fakeHost{}
			handle, err := Start(host, test.request, []int{fd})
			require.NoError(t, err)
			assert.Positive(t, handle)
			hello(t, conn)
			notices, status := told(t, conn)
			assert.Contains(t, notices, "slurm-k8s: this node is not set up to run jobs in Pods; tell the administrator")
			assert.Contains(t, notices, test.words)
			assert.Equal(t, 1, strings.Count(notices, "\n"))
			assert.EqualValues(t, 1<<8, status)
			conn.Close()
			assert.Empty(t, Finish(handle, 10*time.Second))
			assert.Empty(t, Finish(handle, 10*time.Second), "the handle is gone")
			require.Len(t, host.updates, 1)
			record, _ := job.ParseAdminComment(strings.TrimPrefix(host.updates[0], "admin_comment="))
			assert.Contains(t, record.Reason, "this node is not set up")
			assert.Regexp(t, `2 job 7: stage end-known after 0\.\d{3} s\n`, host.log())
			assert.Eventually(t, func() bool { return strings.Contains(host.log(), "2 job 7: stage relay-gone after 0.") }, 10*time.Second, time.Millisecond)
		})
	}
}

// brokenHost panics where it is asked to log.
type brokenHost struct{ fakeHost }

func (*brokenHost) Log(int, string) { panic("no log") }

// TestSocketsOfAStartThatFailed: they are still the host's, which tells the tasks through them and closes them.
func TestSocketsOfAStartThatFailed(t *testing.T) {
	request := []string{"job_id=7", "config=/nowhere"}
	conn, fd := relay(t)
	_, err := Start(nil, request, []int{fd})
	assert.ErrorContains(t, err, "install both from one package")
	assert.Panics(t, func() { _, _ = Start(&brokenHost{}, request, []int{fd}) }) // the export recovers
	_, err = syscall.Write(fd, []byte("why"))
	require.NoError(t, err)
	require.NoError(t, syscall.Close(fd))
	text := make([]byte, 10)
	n, err := conn.Read(text)
	require.NoError(t, err)
	assert.Equal(t, "why", string(text[:n]))
	assert.Contains(t, Reap(nil, request, time.Second), "install both from one package")
}

func TestHandles(t *testing.T) {
	assert.Empty(t, Finish(4711, time.Second), "one that never was")
	request := []string{"job_id=7", "config=/nowhere"}
	var handles []int
	var conns []net.Conn
	for range 3 {
		conn, fd := relay(t)
		handle, err := Start(&fakeHost{}, request, []int{fd})
		require.NoError(t, err)
		assert.NotContains(t, handles, handle)
		handles, conns = append(handles, handle), append(conns, conn)
	}
	// The tasks were never run: no relay ever says hello.
	for i, handle := range handles {
		conns[i].Close()
		assert.Empty(t, Finish(handle, 10*time.Second))
	}
	mu.Lock()
	defer mu.Unlock()
	assert.Empty(t, steps)
}

// TestFinishBeforeHello: slurmstepd may give up before its tasks were forked.
func TestFinishBeforeHello(t *testing.T) {
	conn, fd := relay(t)
	handle, err := Start(&fakeHost{}, []string{"job_id=7", "config=/nowhere"}, []int{fd})
	require.NoError(t, err)
	assert.Empty(t, Finish(handle, 10*time.Second))
	conn.Close()
}

// TestBadSocket: where Start fails the sockets stay the host's.
func TestBadSocket(t *testing.T) {
	conn, fd := relay(t)
	handle, err := Start(&fakeHost{}, nil, []int{fd, 1 << 20})
	require.ErrorContains(t, err, "socket of relay 1")
	assert.Zero(t, handle)
	_, err = syscall.Write(fd, []byte("x"))
	require.NoError(t, err, "it is still open")
	_, err = conn.Read(make([]byte, 1))
	require.NoError(t, err)
	require.NoError(t, syscall.Close(fd))
}

// TestNothingGoesToStderr: slurmstepd's stderr is the job's output, and client-go reports
// what it cannot return.
func TestNothingGoesToStderr(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	require.NoError(t, err)
	defer file.Close()
	stderr := os.Stderr
	os.Stderr = file
	defer func() { os.Stderr = stderr }()
	host := &fakeHost{}
	log := newLogger(host)
	utilruntime.HandleError(errors.New("of client-go's"))
	utilruntime.HandleErrorWithContext(context.Background(), errors.New("of client-go's"), "said so")
	log.WithField("job", 7).WithError(errors.New("two\nlines")).Error("ours")
	log.Debug("more")
	text, err := os.ReadFile(file.Name())
	require.NoError(t, err)
	assert.Empty(t, string(text))
	assert.Equal(t, []string{"0 job 7: ours: two lines", "2 more"}, host.lines)
}

func TestSessionID(t *testing.T) {
	seen := map[uint64]bool{}
	for range 100 {
		id := sessionID()
		assert.NotZero(t, id)
		seen[id] = true
	}
	assert.Len(t, seen, 100)
}

func TestReadPodinit(t *testing.T) {
	if os.Getuid() != 0 {
		t.Fatal("run it as root: the files must be root's")
	}
	directory := t.TempDir()
	path := filepath.Join(directory, "podinit")
	_, err := readPodinit(directory)
	require.ErrorIs(t, err, os.ErrNotExist)
	for _, test := range []struct {
		size int
		mode os.FileMode
		good bool
	}{{1, 0o755, true}, {podinitMax, 0o755, true}, {0, 0o755, false}, {podinitMax + 1, 0o755, false}, {1, 0o777, false}, {1, 0o775, false}} {
		require.NoError(t, os.WriteFile(path, make([]byte, test.size), 0o755))
		require.NoError(t, os.Chmod(path, test.mode))
		program, err := readPodinit(directory)
		assert.Equal(t, test.good, err == nil, "%+v: %v", test, err)
		if test.good {
			assert.Len(t, program, test.size)
		}
	}
}

// TestChangedPodinitIsFinal: no retry mends it, so it must not be retried.
func TestChangedPodinitIsFinal(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(corev1.ConfigMap{TypeMeta: metav1.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"}})
	}))
	defer server.Close()
	client, err := kube.New(&rest.Config{Host: server.URL, Transport: &http.Transport{DisableKeepAlives: true}})
	require.NoError(t, err)
	_, err = (&cluster{client: client, namespace: "slurm"}).EnsurePodinit(t.Context(), []byte("podinit"))
	assert.Equal(t, podstatus.ClassFinal, podstatus.ClassifyError(err))
}

func TestRequest(t *testing.T) {
	r := request{"a=1", "b=2=3", "a=4", "c", ""}
	assert.Equal(t, "1", r.get("a"))
	assert.Equal(t, "2=3", r.get("b"))
	assert.Empty(t, r.get("c"))
	assert.Empty(t, r.get("d"))
	assert.Equal(t, []string{"1", "4"}, r.all("a"))
	assert.Empty(t, r.all("c"))
}
