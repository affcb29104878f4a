// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// moments is what FollowAll told, each as "UID VERSION" of its Pods.
func moments(t *testing.T, a *api) (seen []string, logged []error) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		inMemory(t, a).FollowAll(ctx, "slurm", "job-id=7,slurm-k8s/step=3", func(pods []*corev1.Pod) {
			var names []string
			for _, p := range pods {
				names = append(names, string(p.UID)+" "+p.ResourceVersion)
			}
			slices.Sort(names)
			seen = append(seen, strings.Join(names, ", "))
		}, func(err error) { logged = append(logged, err) })
	})
	return seen, logged
}

func TestFollowAll(t *testing.T) {
	const watch = "WATCH " + watchPath
	event := func(kind, uid, version string) watched {
		return watched{kind, pod(uid, version, corev1.PodRunning)}
	}
	bookmark := func(annotations map[string]string) watched {
		p := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
		p.ResourceVersion, p.Annotations = "4", annotations
		return watched{"BOOKMARK", p}
	}
	complete := bookmark(map[string]string{metav1.InitialEventsAnnotationKey: "true"})

	t.Run("what is there first is one moment", func(t *testing.T) {
		a := new(api).on(watch, stream(true, event("ADDED", "a", "1"), event("ADDED", "b", "3"), complete,
			event("MODIFIED", "a", "5"), bookmark(nil), event("DELETED", "b", "6"), event("ADDED", "c", "7")))
		seen, logged := moments(t, a)
		assert.Equal(t, []string{"a 1, b 3", "a 5, b 3", "a 5", "a 5, c 7"}, seen)
		assert.Empty(t, logged)
		query := a.seen[0].query
		assert.Equal(t, "job-id=7,slurm-k8s/step=3", query.Get("labelSelector"))
		assert.Equal(t, "true", query.Get("sendInitialEvents"))
		assert.Empty(t, query.Get("resourceVersion"))
	})
	t.Run("a watch that breaks begins anew", func(t *testing.T) {
		a := new(api).on(watch, stream(false, event("ADDED", "a", "1"), complete), status(http.StatusServiceUnavailable, "", "down"),
			stream(false, event("ADDED", "a", "1"), watched{"ERROR", failure(http.StatusGone, metav1.StatusReasonExpired, "too old")}),
			stream(true, event("ADDED", "b", "2"), complete))
		seen, logged := moments(t, a)
		assert.Equal(t, []string{"a 1", "b 2"}, seen, "half a list is none")
		assert.Len(t, logged, 2)
	})
}
