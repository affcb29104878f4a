// SPDX-License-Identifier: Apache-2.0

// Package collector is `slurm-k8s gc`: it compares the Pods of a Slurm cluster with what Slurm
// knows, removes those that no job stands behind any more, removes podinits that no Pod uses,
// and publishes what the nodes can give. It holds no state: each run looks anew.
package collector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/tenant"
)

// Cluster is what the collector does to Kubernetes.
type Cluster interface {
	// ListPods of a namespace, or of all (empty), by a label selector.
	ListPods(ctx context.Context, namespace, selector string) ([]corev1.Pod, error)
	// DeletePod deletes the Pod with this uid and no other; its container has grace seconds to
	// end, at least 1.
	DeletePod(ctx context.Context, namespace, name string, uid types.UID, grace int64) error
	// EachNode calls see with every node of the cluster.
	EachNode(ctx context.Context, see func(*corev1.Node)) error
	// ListConfigMaps returns the names and ages of a namespace's ConfigMaps, without their data.
	ListConfigMaps(ctx context.Context, namespace string) ([]metav1.ObjectMeta, error)
	// GetConfigMap returns an error of apierrors.IsNotFound where there is none.
	GetConfigMap(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error)
	// ApplyConfigMap makes the ConfigMap, or updates it where it has a resourceVersion.
	ApplyConfigMap(ctx context.Context, object *corev1.ConfigMap) error
	// DeleteConfigMap deletes the ConfigMap with this uid and no other.
	DeleteConfigMap(ctx context.Context, namespace, name string, uid types.UID) error
	// ListClaims of a namespace by a label selector, without their specifications.
	ListClaims(ctx context.Context, namespace, selector string) ([]metav1.ObjectMeta, error)
	// KeepClaim writes into a claim that is still as listed until when it is kept; "" takes that out.
	KeepClaim(ctx context.Context, claim metav1.ObjectMeta, until string) error
	// DeleteClaim deletes the claim with this uid and no other.
	DeleteClaim(ctx context.Context, namespace, name string, uid types.UID) error
}

// Tenants is what the collector needs where jobs have namespaces by a pattern.
type Tenants struct {
	// List the namespaces with these labels.
	List func(ctx context.Context, selector string) ([]corev1.Namespace, error)
	// Renew brings one up to date. nil: there is no credential for that here.
	Renew func(ctx context.Context, objects tenant.Objects) error
	Site  *site.Config
}

// Slurm is what the collector asks of Slurm.
type Slurm interface {
	// Jobs that Slurm knows, in all states. A partial answer is an error.
	Jobs(ctx context.Context) (map[uint32]Job, error)
}

// Config of a run.
type Config struct {
	Namespace string        // of the jobs, or beside a pattern that of the accounts
	Cluster   string        // label value of this Slurm cluster
	Grace     time.Duration // what is younger is left alone
	DryRun    bool

	// Podinit is the name of the ConfigMap of the podinit that is installed; empty: not known,
	// then none is removed.
	Podinit    string
	PodinitAge time.Duration // younger ones are left alone
	KeepClaims time.Duration // how long a kept volume claim stays that nobody uses
	Autoscaler bool          // published with the node shapes
	NodeLabels []string      // keys of the labels that are published with them
}

// Collector is one run.
type Collector struct {
	Config
	Kubernetes Cluster
	Tenants    *Tenants // nil: the jobs' namespace is fixed
	Slurm      Slurm
	Out        io.Writer // a line for each thing done
	Log        logrus.FieldLogger
	Now        func() time.Time
}

// Run does everything once. One part's failure does not keep the others from running; the
// error has all of them.
func (c *Collector) Run(ctx context.Context) error {
	var faults []error
	namespaces, err := c.namespaces(ctx)
	if err != nil {
		faults = append(faults, err)
	}
	// Pods of all Slurm clusters: one of them may use a podinit that this one does not.
	pods, err := c.listPods(ctx, namespaces)
	if err != nil {
		faults = append(faults, fmt.Errorf("cannot list the Pods of %s: %w", c.where(), err))
	} else {
		// After the Pods were listed: a job whose Pod is in the list is known to Slurm by now.
		jobs := sync.OnceValues(func() (map[uint32]Job, error) { return c.Slurm.Jobs(ctx) })
		faults = append(faults, c.removeOrphans(ctx, pods, jobs), c.removePodinits(ctx, namespaces, pods), c.removeClaims(ctx, namespaces, pods, jobs))
	}
	faults = append(faults, c.publishShapes(ctx))
	return errors.Join(faults...)
}

// removeOrphans deletes the Pods that no job stands behind. Without Slurm's word, none.
func (c *Collector) removeOrphans(ctx context.Context, pods []corev1.Pod, slurms func() (map[uint32]Job, error)) error {
	candidates := c.candidates(pods)
	if len(candidates) == 0 {
		return nil
	}
	jobs, err := slurms()
	if err != nil {
		return fmt.Errorf("Slurm cannot be asked, no Pod is removed: %w", err)
	}
	var faults []error
	for _, candidate := range candidates {
		known, ok := jobs[candidate.job]
		why := orphaned(candidate, known, ok)
		if why == "" {
			continue
		}
		log := c.Log.WithFields(logrus.Fields{"job": candidate.job, "pod": candidate.pod.Name, "incarnation": candidate.incarnation})
		faults = append(faults, c.do(log, "delete", "Pod "+candidate.pod.Namespace+"/"+candidate.pod.Name, why, func() error {
			return c.Kubernetes.DeletePod(ctx, candidate.pod.Namespace, candidate.pod.Name, candidate.pod.UID, graceOf(candidate.pod))
		}))
	}
	return errors.Join(faults...)
}

// do does one thing, or says that it would.
func (c *Collector) do(log logrus.FieldLogger, verb, what, why string, act func() error) error {
	if c.DryRun {
		fmt.Fprintf(c.Out, "would %s %s: %s\n", verb, what, why)
		return nil
	}
	err := act()
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		log.Infof("%s: gone or changed meanwhile", what)
		return nil
	case err != nil:
		return fmt.Errorf("cannot %s %s: %w", verb, what, err)
	}
	fmt.Fprintf(c.Out, "%sd %s: %s\n", verb, what, why)
	log.Infof("%sd %s: %s", verb, what, why)
	return nil
}
