// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// Bounds of a request, and of one page of a list.
const (
	requestTimeout = 20 * time.Second
	pageSize       = 500
)

// RESTCluster is a Cluster on a REST client for core/v1. Each method names the RBAC verb that
// it needs; deploy/collector.yaml grants exactly these.
type RESTCluster struct{ REST rest.Interface }

var _ Cluster = RESTCluster{}

// ListPods needs list on pods.
func (k RESTCluster) ListPods(ctx context.Context, namespace, selector string) ([]corev1.Pod, error) {
	var pods []corev1.Pod
	err := pages(func(token string) (string, error) {
		list := &corev1.PodList{}
		err := k.list("pods", token).Namespace(namespace).Param("labelSelector", selector).Do(ctx).Into(list)
		pods = append(pods, list.Items...)
		return list.Continue, err
	})
	return pods, err
}

// EachNode needs list on nodes. Page by page: a large cluster's nodes are tens of megabytes.
func (k RESTCluster) EachNode(ctx context.Context, see func(*corev1.Node)) error {
	return pages(func(token string) (string, error) {
		list := &corev1.NodeList{}
		if err := k.list("nodes", token).Do(ctx).Into(list); err != nil {
			return "", err
		}
		for i := range list.Items {
			see(&list.Items[i])
		}
		return list.Continue, nil
	})
}

// ListNamespaces needs list on namespaces.
func (k RESTCluster) ListNamespaces(ctx context.Context, selector string) ([]corev1.Namespace, error) {
	var all []corev1.Namespace
	err := pages(func(token string) (string, error) {
		list := &corev1.NamespaceList{}
		err := k.list("namespaces", token).Param("labelSelector", selector).Do(ctx).Into(list)
		all = append(all, list.Items...)
		return list.Continue, err
	})
	return all, err
}

// ListConfigMaps needs list on configmaps. It asks for metadata alone.
func (k RESTCluster) ListConfigMaps(ctx context.Context, namespace string) ([]metav1.ObjectMeta, error) {
	return k.listMetadata(ctx, "configmaps", namespace, "")
}

func (k RESTCluster) listMetadata(ctx context.Context, resource, namespace, selector string) ([]metav1.ObjectMeta, error) {
	var all []metav1.ObjectMeta
	err := pages(func(token string) (string, error) {
		text, err := k.list(resource, token).Namespace(namespace).Param("labelSelector", selector).
			SetHeader("Accept", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io").Do(ctx).Raw()
		if err != nil {
			return "", err
		}
		var list metav1.PartialObjectMetadataList
		if err := json.Unmarshal(text, &list); err != nil {
			return "", fmt.Errorf("the list cannot be read: %w", err)
		}
		for _, item := range list.Items {
			all = append(all, item.ObjectMeta)
		}
		return list.Continue, nil
	})
	return all, err
}

// list begins the request of one page.
func (k RESTCluster) list(resource, token string) *rest.Request {
	request := k.REST.Get().Resource(resource).Param("limit", strconv.Itoa(pageSize)).Timeout(requestTimeout)
	if token != "" {
		request = request.Param("continue", token)
	}
	return request
}

// pages calls get with each page's token until there is no next one.
func pages(get func(token string) (next string, err error)) error {
	for token, first := "", true; first || token != ""; first = false {
		var err error
		if token, err = get(token); err != nil {
			return err
		}
	}
	return nil
}

// DeletePod needs delete on pods. Never by force, which is gracePeriodSeconds 0.
func (k RESTCluster) DeletePod(ctx context.Context, namespace, name string, uid types.UID, grace int64) error {
	grace = max(grace, 1)
	return k.delete(ctx, "pods", namespace, name, uid, &grace)
}

// DeleteConfigMap needs delete on configmaps.
func (k RESTCluster) DeleteConfigMap(ctx context.Context, namespace, name string, uid types.UID) error {
	return k.delete(ctx, "configmaps", namespace, name, uid, nil)
}

func (k RESTCluster) delete(ctx context.Context, resource, namespace, name string, uid types.UID, grace *int64) error {
	return k.REST.Delete().Namespace(namespace).Resource(resource).Name(name).Timeout(requestTimeout).
		Body(&metav1.DeleteOptions{GracePeriodSeconds: grace, Preconditions: &metav1.Preconditions{UID: &uid}}).
		Do(ctx).Error()
}

// GetConfigMap needs get on the ConfigMap slurm-k8s-nodes.
func (k RESTCluster) GetConfigMap(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error) {
	object := &corev1.ConfigMap{}
	err := k.REST.Get().Namespace(namespace).Resource("configmaps").Name(name).Timeout(requestTimeout).Do(ctx).Into(object)
	return object, err
}

// ApplyConfigMap needs create on configmaps, and update on slurm-k8s-nodes.
func (k RESTCluster) ApplyConfigMap(ctx context.Context, object *corev1.ConfigMap) error {
	request := k.REST.Post()
	if object.ResourceVersion != "" {
		request = k.REST.Put().Name(object.Name)
	}
	return request.Namespace(object.Namespace).Resource("configmaps").Body(object).Timeout(requestTimeout).Do(ctx).Error()
}
