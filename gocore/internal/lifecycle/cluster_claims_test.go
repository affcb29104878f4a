// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var claimResource = schema.GroupResource{Resource: "persistentvolumeclaims"}

func (c *fakeCluster) CreateClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	return c.call(ctx, "CreateClaim", func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.claims[claim.Name] != nil {
			return apierrors.NewAlreadyExists(claimResource, claim.Name)
		}
		c.claims[claim.Name] = claim.DeepCopy()
		return nil
	})
}

func (c *fakeCluster) GetClaim(ctx context.Context, name string) (found *corev1.PersistentVolumeClaim, err error) {
	err = c.call(ctx, "GetClaim", func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if found = c.claims[name]; found == nil {
			return apierrors.NewNotFound(claimResource, name)
		}
		return nil
	})
	if err != nil {
		return &corev1.PersistentVolumeClaim{}, err
	}
	return found, nil
}
