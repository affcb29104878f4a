// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// served makes a client of an API server on loopback.
func served(t *testing.T, handler http.Handler) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client, err := New(&rest.Config{Host: server.URL, Transport: &http.Transport{DisableKeepAlives: true}})
	require.NoError(t, err)
	return client
}

func TestEnsurePodinit(t *testing.T) {
	program := []byte("\x7fELF podinit")
	name := wellknown.PodinitConfigMap(program)
	get, create := "GET "+mapsPath+"/"+name, "POST "+mapsPath
	holds := func(program string) answer {
		return object(corev1.ConfigMap{
			TypeMeta:   metav1.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"},
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "slurm"},
			BinaryData: map[string][]byte{wellknown.PodinitKey: []byte(program)},
			Immutable:  new(true),
		})
	}
	mutable := object(corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"},
		BinaryData: map[string][]byte{wellknown.PodinitKey: program},
	})
	absent := status(404, metav1.StatusReasonNotFound, "configmaps not found")
	exists := status(409, metav1.StatusReasonAlreadyExists, "it exists")
	denied := status(403, metav1.StatusReasonForbidden, "forbidden")
	for title, test := range map[string]struct {
		gets, creates []answer
		requests      []string
		fault         string // "": none
	}{
		"it is there":               {gets: []answer{holds(string(program))}, requests: []string{"GET"}},
		"it is not":                 {gets: []answer{absent}, creates: []answer{holds(string(program))}, requests: []string{"GET", "POST"}},
		"another node was faster":   {gets: []answer{absent, holds(string(program))}, creates: []answer{exists}, requests: []string{"GET", "POST", "GET"}},
		"somebody changed it":       {gets: []answer{holds("#!/bin/sh")}, requests: []string{"GET"}, fault: "does not hold this podinit"},
		"it can be changed":         {gets: []answer{mutable}, requests: []string{"GET"}, fault: "does not hold this podinit"},
		"it is empty":               {gets: []answer{holds("")}, requests: []string{"GET"}, fault: "does not hold this podinit"},
		"another's, made meanwhile": {gets: []answer{absent, holds("#!/bin/sh")}, creates: []answer{exists}, requests: []string{"GET", "POST", "GET"}, fault: "does not hold this podinit"},
		"it comes and goes":         {gets: []answer{absent}, creates: []answer{exists}, requests: []string{"GET", "POST", "GET", "POST"}, fault: "comes and goes"},
		"it may not be read":        {gets: []answer{denied}, requests: []string{"GET"}, fault: "forbidden"},
		"it may not be made":        {gets: []answer{absent}, creates: []answer{denied}, requests: []string{"GET", "POST"}, fault: "forbidden"},
	} {
		t.Run(title, func(t *testing.T) {
			a := new(api).on(get, test.gets...).on(create, test.creates...)
			got, err := served(t, a).EnsurePodinit(t.Context(), "slurm", program)
			a.requests(t, test.requests...)
			if test.fault != "" {
				require.ErrorContains(t, err, test.fault)
				assert.Equal(t, strings.HasPrefix(test.fault, "does not hold"), errors.Is(err, ErrChanged))
				return
			}
			require.NoError(t, err)
			assert.Equal(t, name, got)
			for _, r := range a.seen {
				if r.method == "POST" {
					made := r.body.(*corev1.ConfigMap)
					assert.Equal(t, name, made.Name)
					assert.True(t, *made.Immutable)
					assert.Equal(t, program, made.BinaryData[wellknown.PodinitKey])
				}
			}
		})
	}
}

// TestDeletePod: the Pod of this uid and no other, and never by force.
func TestDeletePod(t *testing.T) {
	for _, test := range []struct{ grace, sent int64 }{{0, 1}, {-5, 1}, {1, 1}, {30, 30}} {
		a := new(api).on("DELETE "+podPath, object(pod("a", "2", corev1.PodRunning)))
		require.NoError(t, served(t, a).DeletePod(t.Context(), "slurm", "slurm-job-7", "a", test.grace))
		options := a.seen[0].body.(*metav1.DeleteOptions)
		assert.Equal(t, test.sent, *options.GracePeriodSeconds)
		assert.EqualValues(t, "a", *options.Preconditions.UID)
		assert.Nil(t, options.PropagationPolicy)
	}
	a := new(api).on("DELETE "+podPath, status(409, metav1.StatusReasonConflict, "the UID in the precondition differs"), gone)
	client := served(t, a)
	assert.True(t, apierrors.IsConflict(client.DeletePod(t.Context(), "slurm", "slurm-job-7", "a", 1)))
	assert.True(t, apierrors.IsNotFound(client.DeletePod(t.Context(), "slurm", "slurm-job-7", "a", 1)))
}

func TestPodRequests(t *testing.T) {
	a := new(api).on("POST "+watchPath, object(pod("a", "2", corev1.PodPending)), status(403, metav1.StatusReasonForbidden, `pods "slurm-job-7" is forbidden: exceeded quota: q`)).
		on("GET "+podPath, object(pod("a", "3", corev1.PodRunning)), gone).
		on("GET "+watchPath, object(corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, Items: []corev1.Pod{*pod("a", "3", "")}})).
		on("GET /api/v1/namespaces/slurm/events", object(corev1.EventList{TypeMeta: metav1.TypeMeta{Kind: "EventList", APIVersion: "v1"}, Items: []corev1.Event{{Reason: "FailedMount"}}}))
	client := served(t, a)
	sent := pod("", "", "")
	made, err := client.CreatePod(t.Context(), sent)
	require.NoError(t, err)
	assert.EqualValues(t, "a", made.UID)
	assert.Equal(t, "slurm-job-7", a.seen[0].body.(*corev1.Pod).Name)
	_, err = client.CreatePod(t.Context(), sent)
	assert.True(t, apierrors.IsForbidden(err))
	found, err := client.GetPod(t.Context(), "slurm", "slurm-job-7")
	require.NoError(t, err)
	assert.Equal(t, corev1.PodRunning, found.Status.Phase)
	_, err = client.GetPod(t.Context(), "slurm", "slurm-job-7")
	assert.True(t, apierrors.IsNotFound(err))
	list, err := client.ListPods(t.Context(), "slurm", "app=slurm-job")
	require.NoError(t, err)
	assert.Len(t, list, 1)
	assert.Equal(t, "app=slurm-job", a.seen[4].query.Get("labelSelector"))
	events, err := client.Events(t.Context(), "slurm", "a")
	require.NoError(t, err)
	assert.Equal(t, "FailedMount", events[0].Reason)
	assert.Equal(t, "involvedObject.uid=a", a.seen[5].query.Get("fieldSelector"))
}

const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "http://SERVER:1"}}]
users: [{name: u, user: {token: secret}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`

func TestOpen(t *testing.T) {
	write := func(name, server string) string {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(kubeconfig, "SERVER", server)), 0o600))
		return path
	}
	path := write("a", "first")

	t.Run("what is checked is what is read", func(t *testing.T) {
		other := write("b", "second")
		client, err := Open(path, func(file *os.File) error {
			at, err := file.Seek(0, io.SeekCurrent)
			assert.NoError(t, err)
			assert.Zero(t, at, "nothing has been read")
			assert.Equal(t, path, file.Name())
			return os.Rename(other, path) // whoever owns the directory can do that
		})
		require.NoError(t, err)
		assert.Equal(t, "http://first:1", client.config.Host)
	})
	t.Run("refused", func(t *testing.T) {
		refused := errors.New("mode 0644")
		_, err := Open(path, func(*os.File) error { return refused })
		assert.ErrorIs(t, err, refused)
	})
	t.Run("no check for a reader's", func(t *testing.T) {
		client, err := Open(path, nil)
		require.NoError(t, err)
		assert.Equal(t, "http://second:1", client.config.Host)
	})
	t.Run("not there", func(t *testing.T) {
		_, err := Open(path+"x", nil)
		assert.ErrorIs(t, err, os.ErrNotExist)
	})
	t.Run("no kubeconfig", func(t *testing.T) {
		require.NoError(t, os.WriteFile(path, []byte("{{{"), 0o600))
		_, err := Open(path, nil)
		require.Error(t, err)
		assert.NotContains(t, err.Error(), "secret")
	})
}

// Channels of v5.channel.k8s.io.
const (
	channelStdin  = 0
	channelStdout = 1
	channelStderr = 2
	channelError  = 3
)

// execServer upgrades an exec and lets a function be the pump.
func execServer(t *testing.T, pump func(r *http.Request, conn *websocket.Conn)) *Client {
	t.Helper()
	upgrader := websocket.Upgrader{Subprotocols: []string{"v5.channel.k8s.io"}}
	ended := make(chan struct{}, 8)
	client := served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := upgrader.Upgrade(w, r, nil)
		if assert.NoError(t, err) {
			pump(r, conn)
			conn.Close()
		}
		ended <- struct{}{}
	}))
	t.Cleanup(func() { // hijacked connections are not the server's to wait for
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			t.Error("the server's end of the pump stays")
		}
	})
	return client
}

func say(conn *websocket.Conn, channel byte, text string) {
	_ = conn.WriteMessage(websocket.BinaryMessage, append([]byte{channel}, text...))
}

func TestPump(t *testing.T) {
	t.Run("both ways", func(t *testing.T) {
		var query map[string][]string
		client := execServer(t, func(r *http.Request, conn *websocket.Conn) {
			query = r.URL.Query()
			for {
				_, message, err := conn.ReadMessage()
				if err != nil {
					return
				}
				if message[0] == channelStdin && len(message) > 1 {
					say(conn, channelStdout, strings.ToUpper(string(message[1:])))
				}
			}
		})
		pump, err := client.Pump(t.Context(), "slurm", "slurm-job-7", 0xabc)
		require.NoError(t, err)
		for _, text := range []string{"hello", strings.Repeat("x", 200_000)} {
			_, err = pump.Write([]byte(text))
			require.NoError(t, err)
			got := make([]byte, len(text))
			_, err = io.ReadFull(pump, got)
			require.NoError(t, err)
			assert.True(t, strings.ToUpper(text) == string(got))
		}
		require.NoError(t, pump.Close())
		require.NoError(t, pump.Close(), "twice")
		_, err = pump.Read(make([]byte, 1))
		require.Error(t, err)
		_, err = pump.Write([]byte("x"))
		require.Error(t, err)
		assert.Equal(t, []string{"/.slurm-k8s/bin/podinit", "pump", "--session=0000000000000abc"}, query["command"])
		assert.Equal(t, []string{wellknown.ContainerName}, query["container"])
		assert.Equal(t, []string{"true"}, query["stderr"])
		assert.NotContains(t, query, "tty")
	})
	t.Run("the pump fails", func(t *testing.T) {
		client := execServer(t, func(_ *http.Request, conn *websocket.Conn) {
			say(conn, channelStderr, "pump: nobody is there\n")
			say(conn, channelError, `{"metadata":{},"status":"Failure","message":"command terminated with exit code 3","reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"3"}]}}`)
			_ = conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Second))
			_, _, _ = conn.ReadMessage()
		})
		pump, err := client.Pump(t.Context(), "slurm", "slurm-job-7", 1)
		require.NoError(t, err)
		defer pump.Close()
		_, err = io.ReadAll(pump)
		assert.ErrorContains(t, err, "exit code 3")
		assert.ErrorContains(t, err, "nobody is there")
	})
	t.Run("the connection breaks", func(t *testing.T) {
		client := execServer(t, func(_ *http.Request, conn *websocket.Conn) {
			say(conn, channelStdout, "half")
			conn.Close()
		})
		pump, err := client.Pump(t.Context(), "slurm", "slurm-job-7", 1)
		require.NoError(t, err)
		defer pump.Close()
		text, err := io.ReadAll(pump)
		require.Error(t, err)
		assert.Equal(t, "half", string(text))
	})
	t.Run("the context ends it", func(t *testing.T) {
		client := execServer(t, func(_ *http.Request, conn *websocket.Conn) {
			say(conn, channelStdout, "x")
			_, _, _ = conn.ReadMessage()
		})
		ctx, cancel := context.WithCancel(t.Context())
		pump, err := client.Pump(ctx, "slurm", "slurm-job-7", 1)
		require.NoError(t, err)
		_, err = io.ReadFull(pump, make([]byte, 1))
		require.NoError(t, err)
		cancel()
		_, err = pump.Read(make([]byte, 1))
		require.Error(t, err)
		require.NoError(t, pump.Close())
	})
	t.Run("refused", func(t *testing.T) {
		client := served(t, new(api).on("GET "+podPath+"/exec", status(403, metav1.StatusReasonForbidden, `pods "slurm-job-7" is forbidden: not our pump`)))
		pump, err := client.Pump(t.Context(), "slurm", "slurm-job-7", 1)
		require.NoError(t, err)
		defer pump.Close()
		_, err = pump.Read(make([]byte, 1))
		require.Error(t, err)
	})
}

func TestTail(t *testing.T) {
	var said tail
	for range 100 {
		n, err := said.Write([]byte(strings.Repeat("x", 100)))
		require.NoError(t, err)
		require.Equal(t, 100, n, "a writer that is full still takes all")
	}
	assert.Len(t, said.text(), tailMax)
	_, copies := any(&said).(io.ReaderFrom)
	assert.False(t, copies, "io.Copy would pass the bound by")
}
