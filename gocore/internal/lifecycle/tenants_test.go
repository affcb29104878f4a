// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
)

// errDenied is what an account with rights in single namespaces is told of one that is not there.
var errDenied = apierrors.NewForbidden(corev1.Resource("configmaps"), "slurm-k8s-podinit-0", fmt.Errorf(
	`%s "system:serviceaccount:slurm:slurm-k8s-node" cannot get resource "configmaps" in API group "" in the namespace "user-alice"`, "User"))

func errEnding() error {
	err := apierrors.NewForbidden(podResource, testPod, errors.New("unable to create new content in namespace user-alice because it is being terminated"))
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	return err
}

// here is what a request in the namespace is told that is not there.
func (c *fakeCluster) here() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.absent:
		return errDenied
	case c.ending:
		return errEnding()
	}
	return nil
}

// MakeNamespace implements lifecycle.Cluster.
func (c *fakeCluster) MakeNamespace(ctx context.Context) error {
	return c.call(ctx, "MakeNamespace", func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.ending {
			return errEnding()
		}
		c.absent = false
		return nil
	})
}

// tenants is a world whose jobs have namespaces by user; make: the site makes them.
func (w *world) tenants(make bool) {
	w.site.Namespace = "user-%u"
	w.site.Tenants.Create = make
	w.slurm.facts = []string{"user_name=alice"}
	w.tasks.exit = someUsage
	w.runsPulled()
}

func (c *fakeCluster) set(absent, ending bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.absent, c.ending = absent, ending
}

func TestNamespaceIsMade(t *testing.T) {
	bubble(t, func(w *world) {
		w.tenants(true)
		w.cluster.absent = true
	}, func(t *testing.T, w *world) {
		assert.Zero(t, w.exit().Status)
		assert.Equal(t, 1, w.count("MakeNamespace"))
		assert.Equal(t, 1, w.count("CreatePod"))
		assert.Less(t, w.first["CreatePod"], 3*time.Second)
	})
}

func TestNamespaceThatIsThereCostsNothing(t *testing.T) {
	bubble(t, func(w *world) { w.tenants(true) }, func(t *testing.T, w *world) {
		assert.Zero(t, w.exit().Status)
		assert.Zero(t, w.count("MakeNamespace"))
		assert.Equal(t, 1, w.count("EnsurePodinit"))
	})
}

func TestNamespaceGoesBeforeTheCreate(t *testing.T) {
	bubble(t, func(w *world) {
		w.tenants(true)
		w.at("CreatePod", func() {
			w.cluster.set(false, true)
			time.AfterFunc(20*time.Second, func() { w.cluster.set(true, false) })
		})
	}, func(t *testing.T, w *world) {
		assert.Zero(t, w.exit().Status)
		assert.Equal(t, 1, w.count("MakeNamespace"))
		assert.Contains(t, w.log.String(), "namespace user-alice is being deleted")
		// Podinit is made in the new one before the Pod.
		assert.Regexp(t, `MakeNamespace .*EnsurePodinit CreatePod`, strings.Join(w.calls, " "))
	})
}

func TestNamespaceOfNobodyIsTold(t *testing.T) {
	for name, test := range map[string]struct {
		prepare func(*world)
		status  uint32
		requeue int
		words   []string
		makes   int
		least   time.Duration
		most    time.Duration
	}{
		"the site makes none": {
			func(w *world) { w.tenants(false) }, 1 << 8, 0,
			[]string{`the job's namespace "user-alice" is not there`, "slurm-k8s render --namespace", `[configmaps "slurm-k8s-podinit-0" is forbidden`}, 0, namespacePatience, 2 * namespacePatience,
		},
		"that of an earlier run": {
			func(w *world) {
				w.tenants(true)
				w.slurm.comment = `{"slurm-k8s":1,"namespace":"account-maths"}`
			}, 1 << 8, 0, []string{`namespace "account-maths", where an earlier run of the job was`}, 0, namespacePatience, 2 * namespacePatience,
		},
		"another's of its name": {
			func(w *world) {
				w.tenants(true)
				w.fail("MakeNamespace", fault{err: podstatus.Foreign(errors.New(`namespace "user-alice" is there and is not this one: its label x is "", not "y"`))})
			}, 1 << 8, 0, []string{"cannot be made", `its label x is ""`}, 1, 0, 3 * time.Second,
		},
		"the credential may not": {
			func(w *world) {
				w.tenants(true)
				w.fail("MakeNamespace", fault{err: errDenied, always: true})
			}, 1 << 8, 0, []string{"cannot be made"}, 3, namespacePatience, 3 * namespacePatience,
		},
		"made, and the rights do not come": {
			func(w *world) {
				w.tenants(true)
				w.fail("EnsurePodinit", fault{err: errDenied, always: true})
			}, 1 << 8, 0, []string{"is there, but Slurm's nodes have no rights in it"}, 1, rightsPatience, 2 * rightsPatience,
		},
		"it never goes": {
			func(w *world) {
				w.tenants(true)
				w.cluster.ending = true
			}, 0xffff, 1, []string{"is being deleted; the job can run when it is gone"}, 0, 5 * time.Minute, 6 * time.Minute,
		},
		"the API is away while it is made": {
			func(w *world) {
				w.tenants(true)
				w.fail("MakeNamespace", fault{err: errors.New("connection refused"), always: true})
			}, 0xffff, 1, []string{"cannot be made"}, 2, 5 * time.Minute, 6 * time.Minute,
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(w *world) {
				w.cluster.absent = true
				test.prepare(w)
				if w.cluster.ending {
					w.cluster.absent = false
				}
			}, func(t *testing.T, w *world) {
				told := w.notices()
				for _, words := range test.words {
					assert.Contains(t, told, words)
				}
				assert.Equal(t, test.requeue, w.count("Requeue"))
				if test.requeue == 0 {
					assert.Equal(t, test.status, w.exit().Status)
				}
				assert.GreaterOrEqual(t, w.count("MakeNamespace"), test.makes)
				assert.Zero(t, w.cluster.made)
				assert.GreaterOrEqual(t, w.ran, test.least)
				assert.Less(t, w.ran, test.most+stepSlack)
			})
		})
	}
}

// stepSlack is what the rest of a short life takes.
const stepSlack = 30 * time.Second

// A server that has just started denies all; that is believed only after a while, by a site that
// makes no namespaces too.
func TestDenialThatPasses(t *testing.T) {
	for _, makes := range []bool{false, true} {
		t.Run(fmt.Sprint(makes), func(t *testing.T) {
			bubble(t, func(w *world) {
				w.tenants(makes)
				w.fail("CreatePod", fault{err: errDenied}, fault{err: errDenied})
			}, func(t *testing.T, w *world) {
				assert.Zero(t, w.exit().Status)
				assert.Equal(t, 3, w.count("CreatePod"))
			})
		})
	}
}
