// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// ListClaims needs list on persistentvolumeclaims. It asks for metadata alone.
func (k RESTCluster) ListClaims(ctx context.Context, namespace, selector string) ([]metav1.ObjectMeta, error) {
	return k.listMetadata(ctx, "persistentvolumeclaims", namespace, selector)
}

// KeepClaim needs patch on persistentvolumeclaims.
func (k RESTCluster) KeepClaim(ctx context.Context, claim metav1.ObjectMeta, until string) error {
	var value any // null removes it
	if until != "" {
		value = until
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": claim.UID, "resourceVersion": claim.ResourceVersion,
		"annotations": map[string]any{wellknown.AnnotationKeepUntil: value},
	}})
	if err != nil {
		return fmt.Errorf("the claim's annotation cannot be written: %w", err)
	}
	return k.REST.Patch(types.MergePatchType).Namespace(claim.Namespace).Resource("persistentvolumeclaims").Name(claim.Name).
		Body(patch).Timeout(requestTimeout).Do(ctx).Error()
}

// DeleteClaim needs delete on persistentvolumeclaims. Kubernetes keeps it while a Pod mounts it.
func (k RESTCluster) DeleteClaim(ctx context.Context, namespace, name string, uid types.UID) error {
	return k.delete(ctx, "persistentvolumeclaims", namespace, name, uid, nil)
}
