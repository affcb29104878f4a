// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// watched is one event of a watch.
type watched struct {
	Type   string `json:"type"`
	Object any    `json:"object"`
}

// stream answers a watch with events; then it goes on until the client leaves (stays), or ends.
func stream(stays bool, events ...watched) answer {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		for _, e := range events {
			if json.NewEncoder(w).Encode(e) != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
		if stays {
			<-r.Context().Done()
		}
	}
}

// following is what Follow told.
type following struct {
	seen   []string // versions
	gone   int
	logged []error
	took   time.Duration
}

// follow follows the Pod of uid a, version 1, until it is gone or a limit has passed.
func follow(t *testing.T, a *api, limit time.Duration) (f following) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		begun := time.Now()
		inMemory(t, a).Follow(ctx, pod("a", "1", corev1.PodPending),
			func(p *corev1.Pod) {
				f.seen = append(f.seen, p.ResourceVersion)
				assert.EqualValues(t, "a", p.UID)
				assert.Zero(t, f.gone, "a state after the end")
			},
			func() { f.gone++ }, func(err error) { f.logged = append(f.logged, err) })
		f.took = time.Since(begun)
	})
	return f
}

func TestFollow(t *testing.T) {
	const watch = "WATCH " + watchPath
	modified := func(version string) watched { return watched{"MODIFIED", pod("a", version, corev1.PodRunning)} }
	deleted := watched{"DELETED", pod("a", "9", corev1.PodFailed)}
	// there is what a later watch begins with: the Pod of this uid and version, and a mark behind it.
	mark := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
	mark.ResourceVersion, mark.Annotations = "8", map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	marked := watched{"BOOKMARK", mark}
	there := func(uid, version string) watched { return watched{"ADDED", pod(uid, version, corev1.PodRunning)} }
	expired := watched{"ERROR", failure(http.StatusGone, metav1.StatusReasonExpired, "too old resource version: 1 (5)")}

	t.Run("to the end", func(t *testing.T) {
		a := new(api).on(watch, stream(true, modified("2"), modified("3"), deleted))
		f := follow(t, a, time.Hour)
		assert.Equal(t, []string{"2", "3", "9"}, f.seen, "the last state too: it says how it ended")
		assert.Equal(t, 1, f.gone)
		assert.Empty(t, f.logged)
		a.requests(t, "WATCH 1")
		assert.Equal(t, "metadata.name=slurm-job-7", a.seen[0].query.Get("fieldSelector"))
	})
	t.Run("until the caller leaves", func(t *testing.T) {
		f := follow(t, new(api).on(watch, stream(true, modified("2"))), time.Hour)
		assert.Equal(t, []string{"2"}, f.seen)
		assert.Zero(t, f.gone)
		assert.Empty(t, f.logged)
		assert.Equal(t, time.Hour, f.took)
	})
	t.Run("the watch ends, as the server's do", func(t *testing.T) {
		a := new(api).on(watch, stream(false, modified("2")), stream(true, there("a", "2"), marked, deleted))
		f := follow(t, a, time.Hour)
		assert.Equal(t, []string{"2", "9"}, f.seen, "what is the same is not told again")
		assert.Equal(t, 1, f.gone)
		assert.Empty(t, f.logged, "that is no fault")
		a.requests(t, "WATCH 1", "WATCH ")
		assert.Equal(t, "true", a.seen[1].query.Get("sendInitialEvents"))
	})
	t.Run("a version too old, and nothing has changed", func(t *testing.T) {
		a := new(api).on(watch, stream(true, expired), stream(true, there("a", "1"), marked))
		f := follow(t, a, time.Hour)
		assert.Empty(t, f.seen)
		assert.Zero(t, f.gone)
		assert.Len(t, f.logged, 1)
		a.requests(t, "WATCH 1", "WATCH ") // and not one more in an hour
	})
	t.Run("the watch breaks, and something happened meanwhile", func(t *testing.T) {
		a := new(api).on(watch, stream(false, modified("2")), stream(true, there("a", "5"), marked, deleted))
		f := follow(t, a, time.Hour)
		assert.Equal(t, []string{"2", "5", "9"}, f.seen)
		a.requests(t, "WATCH 1", "WATCH ")
	})
	for name, first := range map[string]answer{
		"410 in the watch":    stream(true, expired),
		"410 as the answer":   status(http.StatusGone, metav1.StatusReasonExpired, "too old resource version"),
		"the network":         down,
		"an answer of no use": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"a bad gateway":       status(http.StatusBadGateway, "", "bad gateway"),
		"denied":              status(http.StatusForbidden, metav1.StatusReasonForbidden, "forbidden"),
	} {
		t.Run(name, func(t *testing.T) {
			a := new(api).on(watch, first, stream(true, there("a", "5"), marked, deleted))
			f := follow(t, a, time.Hour)
			assert.Equal(t, []string{"5", "9"}, f.seen)
			assert.Equal(t, 1, f.gone)
			if name != "an answer of no use" {
				assert.Len(t, f.logged, 1)
			}
			assert.Less(t, f.took, time.Second)
		})
	}
	t.Run("the API is down for long", func(t *testing.T) {
		a := new(api)
		for range 40 {
			a.on(watch, down)
		}
		a.on(watch, stream(true, there("a", "6"), marked, deleted))
		f := follow(t, a, time.Hour)
		assert.Equal(t, []string{"6", "9"}, f.seen)
		assert.Equal(t, 1, f.gone)
		assert.NotEmpty(t, f.logged)
		assert.Less(t, f.took, 40*followPauseMax)
		assert.Greater(t, f.took, 30*followPauseMax/2, "it does not hammer")
	})
	t.Run("the API is down, and the caller leaves", func(t *testing.T) {
		f := follow(t, new(api).on(watch, down), time.Minute)
		assert.Zero(t, f.gone, "nobody knows")
		assert.Equal(t, time.Minute, f.took)
	})
	t.Run("it went while nobody watched", func(t *testing.T) {
		a := new(api).on(watch, stream(false), stream(true, marked))
		f := follow(t, a, time.Hour)
		assert.Empty(t, f.seen)
		assert.Equal(t, 1, f.gone)
		a.requests(t, "WATCH 1", "WATCH ")
	})
	t.Run("another took its name while nobody watched", func(t *testing.T) {
		f := follow(t, new(api).on(watch, stream(false), stream(true, there("b", "7"), marked)), time.Hour)
		assert.Empty(t, f.seen)
		assert.Equal(t, 1, f.gone)
	})
	t.Run("another of its name is in the watch", func(t *testing.T) {
		other := watched{"ADDED", pod("b", "1", corev1.PodPending)}
		f := follow(t, new(api).on(watch, stream(true, other, watched{"DELETED", other.Object}, modified("2"), deleted)), time.Hour)
		assert.Equal(t, []string{"2", "9"}, f.seen)
		assert.Equal(t, 1, f.gone)
	})
	t.Run("an event of something else", func(t *testing.T) {
		f := follow(t, new(api).on(watch, stream(true, watched{"MODIFIED", failure(500, "", "")}, deleted)), time.Hour)
		assert.Equal(t, 1, f.gone)
	})
}
