// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/tenant"
)

// MakeTenant makes a namespace and what belongs in it. Others may be doing the same: what is there
// stays. A namespace that is not ours is an error of podstatus.Foreign, one that goes an error of
// podstatus.NamespaceEnds. Needs the verbs create and get on namespaces, create on resourcequotas,
// limitranges and rolebindings, and bind on the two ClusterRoles.
func (c *Client) MakeTenant(ctx context.Context, o tenant.Objects) error {
	err := c.post(ctx, "", "namespaces", o.Namespace)
	if apierrors.IsAlreadyExists(err) {
		err = c.sameTenant(ctx, o.Namespace)
	}
	if err != nil {
		return err
	}
	name := o.Namespace.Name
	for _, made := range []error{c.post(ctx, name, "resourcequotas", o.Quota), c.post(ctx, name, "limitranges", o.Limits)} {
		if made != nil && !apierrors.IsAlreadyExists(made) {
			return made
		}
	}
	for _, binding := range o.Bindings {
		if err := c.bind(ctx, binding); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

// sameTenant looks at a namespace that is there.
func (c *Client) sameTenant(ctx context.Context, want *corev1.Namespace) error {
	there := &corev1.Namespace{}
	if err := c.REST.Get().Resource("namespaces").Name(want.Name).Timeout(requestTimeout).Do(ctx).Into(there); err != nil {
		return err
	}
	if err := tenant.Foreign(there, want); err != nil {
		return podstatus.Foreign(fmt.Errorf("namespace %q is there and is not this one: %w", want.Name, err))
	}
	if there.DeletionTimestamp != nil {
		return namespaceEnds(want.Name)
	}
	return nil
}

// namespaceEnds is what the server itself says of a namespace that goes.
func namespaceEnds(name string) error {
	err := apierrors.NewConflict(corev1.Resource("namespaces"), name, fmt.Errorf("it is being deleted"))
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	return err
}

func (c *Client) post(ctx context.Context, namespace, resource string, object runtime.Object) error {
	return c.REST.Post().NamespaceIfScoped(namespace, namespace != "").Resource(resource).Body(object).Timeout(requestTimeout).Do(ctx).Error()
}

// bind makes a RoleBinding, which is of another group than the client's.
func (c *Client) bind(ctx context.Context, binding *rbacv1.RoleBinding) error {
	body, err := json.Marshal(binding)
	if err != nil {
		return err
	}
	return asJSON(c.REST.Post().AbsPath("/apis/rbac.authorization.k8s.io/v1/namespaces/"+binding.Namespace+"/rolebindings"), body).Do(ctx).Error()
}

func asJSON(request *rest.Request, body []byte) *rest.Request {
	return request.SetHeader("Content-Type", "application/json").SetHeader("Accept", "application/json").Body(body).Timeout(requestTimeout)
}

// RenewTenant brings a namespace up to date: itself last, as its annotation says that the rest is.
// Needs the verbs create and update on resourcequotas and limitranges, create on rolebindings, and
// update on namespaces.
func (c *Client) RenewTenant(ctx context.Context, o tenant.Objects) error {
	name := o.Namespace.Name
	if err := c.apply(ctx, name, "resourcequotas", o.Quota.Name, o.Quota); err != nil {
		return err
	}
	if err := c.apply(ctx, name, "limitranges", o.Limits.Name, o.Limits); err != nil {
		return err
	}
	for _, binding := range o.Bindings {
		if err := c.bind(ctx, binding); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return c.REST.Put().Resource("namespaces").Name(name).Body(o.Namespace).Timeout(requestTimeout).Do(ctx).Error()
}

// apply puts the object in the place of what is there, whatever that is, or makes it.
func (c *Client) apply(ctx context.Context, namespace, resource, name string, object runtime.Object) error {
	err := c.REST.Put().Namespace(namespace).Resource(resource).Name(name).Body(object).Timeout(requestTimeout).Do(ctx).Error()
	if apierrors.IsNotFound(err) {
		err = c.post(ctx, namespace, resource, object)
	}
	return err
}

// DryRunTenant lets the server admit a namespace and keep nothing of it. Needs the verb create on namespaces.
func (c *Client) DryRunTenant(ctx context.Context, namespace *corev1.Namespace) error {
	return c.REST.Post().Resource("namespaces").Param("dryRun", metav1.DryRunAll).Body(namespace).Timeout(requestTimeout).Do(ctx).Error()
}
