// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
)

// reviews is where the API server says what the asking account may do; every account may ask
// (ClusterRole system:basic-user).
const reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

// ServerVersion of Kubernetes; every account may ask.
func (c *Client) ServerVersion(ctx context.Context) (string, error) {
	raw, err := c.REST.Get().AbsPath("/version").SetHeader("Accept", "application/json").Timeout(requestTimeout).Do(ctx).Raw()
	if err != nil {
		return "", err
	}
	var info version.Info
	if err := json.Unmarshal(raw, &info); err != nil {
		return "", fmt.Errorf("the server's version: %w", err)
	}
	return info.GitVersion, nil
}

// MayI asks whether this account may do verb on resource ("pods", "pods/exec", "*") of core/v1, or
// of the group behind it ("roles.rbac.authorization.k8s.io"), in
// the namespace; empty: in all of them, or of what is in none. name: of this object alone, or "".
func (c *Client) MayI(ctx context.Context, namespace, verb, resource, name string) (bool, error) {
	resource, subresource, _ := strings.Cut(resource, "/")
	resource, group, _ := strings.Cut(resource, ".")
	attributes := &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Group: group, Resource: resource, Subresource: subresource, Name: name}
	if resource == "*" {
		attributes.Group = "*"
	}
	body, err := json.Marshal(&authorizationv1.SelfSubjectAccessReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "authorization.k8s.io/v1", Kind: "SelfSubjectAccessReview"},
		Spec:     authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: attributes},
	})
	if err != nil {
		return false, err
	}
	raw, err := c.REST.Post().AbsPath(reviews).SetHeader("Content-Type", "application/json").SetHeader("Accept", "application/json").
		Body(body).Timeout(requestTimeout).Do(ctx).Raw()
	if err != nil {
		return false, err
	}
	var answer authorizationv1.SelfSubjectAccessReview
	if err := json.Unmarshal(raw, &answer); err != nil {
		return false, fmt.Errorf("the access review: %w", err)
	}
	return answer.Status.Allowed, nil
}

// DryRunPod lets the server admit a Pod and keep nothing of it. Needs the verb create on pods.
func (c *Client) DryRunPod(ctx context.Context, pod *corev1.Pod) error {
	return c.REST.Post().Namespace(pod.Namespace).Resource("pods").Param("dryRun", metav1.DryRunAll).Body(pod).
		Timeout(requestTimeout).Do(ctx).Error()
}
