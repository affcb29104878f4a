// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// ErrChanged: somebody put something else in podinit's place. No retry mends it.
var ErrChanged = errors.New("podinit was changed")

// EnsurePodinit makes sure that the ConfigMap named by the hash of podinit's bytes
// holds these bytes, and returns its name. Immutable objects can still be deleted and
// made anew, so the bytes are compared before each launch, not trusted by name.
// Needs the verbs get and create on configmaps.
func (c *Client) EnsurePodinit(ctx context.Context, namespace string, podinit []byte) (string, error) {
	name := wellknown.PodinitConfigMap(podinit)
	// Twice: another node may make it between our get and our create.
	for range 2 {
		found, err := c.GetConfigMap(ctx, namespace, name)
		if err == nil {
			if found.Immutable == nil || !*found.Immutable || !bytes.Equal(found.BinaryData[wellknown.PodinitKey], podinit) {
				return "", fmt.Errorf("%w: ConfigMap %s/%s does not hold this podinit, immutable: somebody changed it; delete it, it is made anew", ErrChanged, namespace, name)
			}
			return name, nil
		}
		if !apierrors.IsNotFound(err) {
			return "", err
		}
		immutable := true
		err = c.CreateConfigMap(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			Immutable:  &immutable,
			BinaryData: map[string][]byte{wellknown.PodinitKey: podinit},
		})
		if err == nil {
			return name, nil
		}
		if !apierrors.IsAlreadyExists(err) {
			return "", err
		}
	}
	return "", fmt.Errorf("ConfigMap %s/%s comes and goes", namespace, name)
}
