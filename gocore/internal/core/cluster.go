// SPDX-License-Identifier: Apache-2.0

package core

import (
	"context"
	"errors"
	"io"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/kube"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/lifecycle"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/tenant"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// cluster is a client bound to one namespace. It implements lifecycle.Cluster.
type cluster struct {
	client    *kube.Client
	config    *site.Config
	system    string // the namespace of what is published for all jobs
	namespace string
	place     site.Namespace
	tenants   func() (*kube.Client, error) // opened once, when it is wanted
}

// openCluster opens the node's credential, which must be root's alone. Its namespace is not
// known before the job is: In.
func openCluster(config *site.Config) (*cluster, error) {
	client, err := kube.Open(config.Kubeconfig, site.CheckCredential)
	if err != nil {
		return nil, err
	}
	return &cluster{client: client, config: config, system: config.SystemNamespace(), tenants: sync.OnceValues(func() (*kube.Client, error) {
		return kube.Open(config.TenantsKubeconfig(), site.CheckCredential)
	})}, nil
}

// In implements lifecycle.Cluster.
func (c *cluster) In(place site.Namespace) lifecycle.Cluster { return c.in(place) }

func (c *cluster) in(place site.Namespace) *cluster {
	other := *c
	other.namespace, other.place = place.Name, place
	return &other
}

// MakeNamespace implements lifecycle.Cluster, by a credential of its own.
func (c *cluster) MakeNamespace(ctx context.Context) error {
	client, err := c.tenants()
	if err != nil {
		return podstatus.Foreign(err) // no retry mends a file
	}
	return client.MakeTenant(ctx, tenant.Build(c.config, c.place))
}

func (c *cluster) EnsurePodinit(ctx context.Context, podinit []byte) (string, error) {
	name, err := c.client.EnsurePodinit(ctx, c.namespace, podinit)
	if errors.Is(err, kube.ErrChanged) {
		err = podstatus.Foreign(err)
	}
	return name, err
}

func (c *cluster) CreatePod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	return c.client.CreatePod(ctx, pod)
}

func (c *cluster) CreateSecret(ctx context.Context, secret *corev1.Secret) error {
	return c.client.CreateSecret(ctx, secret)
}

func (c *cluster) CreateClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	return c.client.CreateClaim(ctx, claim)
}

func (c *cluster) GetClaim(ctx context.Context, name string) (*corev1.PersistentVolumeClaim, error) {
	return c.client.GetClaim(ctx, c.namespace, name)
}

func (c *cluster) GetPod(ctx context.Context, name string) (*corev1.Pod, error) {
	return c.client.GetPod(ctx, c.namespace, name)
}

func (c *cluster) DeletePod(ctx context.Context, name string, uid types.UID, grace int64) error {
	return c.client.DeletePod(ctx, c.namespace, name, uid, grace)
}

func (c *cluster) Follow(ctx context.Context, pod *corev1.Pod, see func(*corev1.Pod), gone func(), log func(error)) {
	c.client.Follow(ctx, pod, see, gone, log)
}

func (c *cluster) WithdrawPod(ctx context.Context, pod *corev1.Pod) error {
	return c.client.WithdrawPod(ctx, pod)
}

func (c *cluster) FollowStep(ctx context.Context, pod *corev1.Pod, see func([]*corev1.Pod), log func(error)) {
	same := map[string]string{}
	for _, label := range []string{wellknown.LabelApp, wellknown.LabelJobID, wellknown.LabelCluster, wellknown.LabelIncarnation} {
		same[label] = pod.Labels[label]
	}
	// Components of a step have one number, and wait each for its own nodes.
	if component := pod.Labels[wellknown.LabelComponent]; component != "" {
		same[wellknown.LabelComponent] = component
	}
	steps, err := labels.NewRequirement(wellknown.LabelStep, selection.In, []string{pod.Labels[wellknown.LabelStep], wellknown.StepBatch})
	if err != nil { // never: the label is a Pod's
		log(err)
		return
	}
	c.client.FollowAll(ctx, c.namespace, labels.SelectorFromSet(same).Add(*steps).String(), see, log)
}

func (c *cluster) Events(ctx context.Context, uid types.UID) ([]corev1.Event, error) {
	return c.client.Events(ctx, c.namespace, uid)
}

func (c *cluster) Join(ctx context.Context, pod string, command []string) error {
	err := c.client.Join(ctx, c.namespace, pod, command)
	if kube.Exited(err) {
		err = podstatus.Foreign(err) // podinit itself has said no
	}
	return err
}

func (c *cluster) Pump(ctx context.Context, pod string, session uint64) (io.ReadWriteCloser, error) {
	return c.client.Pump(ctx, c.namespace, pod, session)
}

func (c *cluster) Shapes(ctx context.Context) (podspec.Shapes, error) {
	return readShapes(ctx, c.client, c.system)
}

func readShapes(ctx context.Context, client *kube.Client, namespace string) (podspec.Shapes, error) {
	object, err := client.GetConfigMap(ctx, namespace, wellknown.NodesConfigMap)
	if err != nil {
		return podspec.Shapes{}, err
	}
	return podspec.ParseShapes([]byte(object.Data[wellknown.NodesKey]))
}
