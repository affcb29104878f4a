// SPDX-License-Identifier: Apache-2.0

// Package kube is the adapter to Kubernetes: a REST client for core/v1 alone,
// since a whole clientset costs slurmstepd twice the memory. Its methods say which
// RBAC verb they need; deploy/ grants exactly these. Any goroutine may call them.
package kube

import (
	"context"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// requestTimeout bounds one request that is not a watch or an exec.
const requestTimeout = 15 * time.Second

// Client speaks to one cluster.
type Client struct {
	// REST is the client for core/v1.
	REST   rest.Interface
	config *rest.Config
	params runtime.ParameterCodec
}

// Open reads the kubeconfig at path, or what k8s.yaml writes in its place (site.InCluster). check, when not nil, sees the open file before
// a byte of it is read: mode and owner are those of what is read.
func Open(path string, check func(*os.File) error) (*Client, error) {
	if folder, asked := site.InCluster(path); asked {
		return openInCluster(folder, check)
	}
	config, err := readKubeconfig(path, check)
	if err != nil {
		return nil, err
	}
	renewed(config, path, check)
	return New(config)
}

// New makes a client of a configuration, which it changes.
func New(config *rest.Config) (*Client, error) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	metav1.AddToGroupVersion(scheme, schemaV1)
	params := runtime.NewParameterCodec(scheme)
	config.APIPath = "/api"
	config.GroupVersion = &schemaV1
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	config.UserAgent = "slurm-k8s"
	config.QPS = -1 // one job makes a handful of requests: no throttle of its own
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, err
	}
	return &Client{REST: client, config: config, params: params}, nil
}

var schemaV1 = corev1.SchemeGroupVersion

// CreatePod needs the verb create on pods.
func (c *Client) CreatePod(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	made := &corev1.Pod{}
	err := c.REST.Post().Namespace(pod.Namespace).Resource("pods").Body(pod).
		Timeout(requestTimeout).Do(ctx).Into(made)
	return made, err
}

// GetPod needs the verb get on pods.
func (c *Client) GetPod(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	err := c.REST.Get().Namespace(namespace).Resource("pods").Name(name).
		Timeout(requestTimeout).Do(ctx).Into(pod)
	return pod, err
}

// DeletePod deletes the Pod with this uid and no other, giving its container grace
// seconds (at least 1: 0 would be a forced deletion). Needs the verb delete on pods.
func (c *Client) DeletePod(ctx context.Context, namespace, name string, uid types.UID, grace int64) error {
	grace = max(grace, 1)
	return c.REST.Delete().Namespace(namespace).Resource("pods").Name(name).
		Body(&metav1.DeleteOptions{
			GracePeriodSeconds: &grace,
			Preconditions:      &metav1.Preconditions{UID: &uid},
		}).
		Timeout(requestTimeout).Do(ctx).Error()
}

// WithdrawPod deletes the Pod as DeletePod does, but only where it is still as pod says: a
// conflict says that it has changed since. Needs the verb delete on pods.
func (c *Client) WithdrawPod(ctx context.Context, pod *corev1.Pod) error {
	return c.REST.Delete().Namespace(pod.Namespace).Resource("pods").Name(pod.Name).
		Body(&metav1.DeleteOptions{
			GracePeriodSeconds: new(int64(1)),
			Preconditions:      &metav1.Preconditions{UID: &pod.UID, ResourceVersion: &pod.ResourceVersion},
		}).
		Timeout(requestTimeout).Do(ctx).Error()
}

// ListPods needs the verb list on pods. selector is a label selector.
func (c *Client) ListPods(ctx context.Context, namespace, selector string) ([]corev1.Pod, error) {
	list := &corev1.PodList{}
	err := c.REST.Get().Namespace(namespace).Resource("pods").
		VersionedParams(&metav1.ListOptions{LabelSelector: selector}, c.params).
		Timeout(requestTimeout).Do(ctx).Into(list)
	return list.Items, err
}

// Events of one object, oldest first as the server lists them. Needs the verb
// list on events.
func (c *Client) Events(ctx context.Context, namespace string, uid types.UID) ([]corev1.Event, error) {
	list := &corev1.EventList{}
	err := c.REST.Get().Namespace(namespace).Resource("events").
		VersionedParams(&metav1.ListOptions{
			FieldSelector: fields.OneTermEqualSelector("involvedObject.uid", string(uid)).String(),
		}, c.params).
		Timeout(requestTimeout).Do(ctx).Into(list)
	return list.Items, err
}

// CreateSecret needs the verb create on secrets.
func (c *Client) CreateSecret(ctx context.Context, object *corev1.Secret) error {
	return c.REST.Post().Namespace(object.Namespace).Resource("secrets").Body(object).
		Timeout(requestTimeout).Do(ctx).Error()
}

// CreateClaim needs the verb create on persistentvolumeclaims.
func (c *Client) CreateClaim(ctx context.Context, object *corev1.PersistentVolumeClaim) error {
	return c.REST.Post().Namespace(object.Namespace).Resource("persistentvolumeclaims").Body(object).
		Timeout(requestTimeout).Do(ctx).Error()
}

// GetClaim needs the verb get on persistentvolumeclaims.
func (c *Client) GetClaim(ctx context.Context, namespace, name string) (*corev1.PersistentVolumeClaim, error) {
	object := &corev1.PersistentVolumeClaim{}
	err := c.REST.Get().Namespace(namespace).Resource("persistentvolumeclaims").Name(name).
		Timeout(requestTimeout).Do(ctx).Into(object)
	return object, err
}

// GetConfigMap needs the verb get on configmaps.
func (c *Client) GetConfigMap(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error) {
	object := &corev1.ConfigMap{}
	err := c.REST.Get().Namespace(namespace).Resource("configmaps").Name(name).
		Timeout(requestTimeout).Do(ctx).Into(object)
	return object, err
}

// CreateConfigMap needs the verb create on configmaps.
func (c *Client) CreateConfigMap(ctx context.Context, object *corev1.ConfigMap) error {
	return c.REST.Post().Namespace(object.Namespace).Resource("configmaps").Body(object).
		Timeout(requestTimeout).Do(ctx).Error()
}
