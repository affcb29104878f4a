// SPDX-License-Identifier: Apache-2.0

package fakekubelet

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	tries   = 5                // to get something done by the API server
	patient = 10 * time.Second // with each of them
)

// ask lets do ask the API server for something about a Pod, until it is done: again after a pause where it fails, so often
// as there are tries. A Pod that is gone wants nothing more.
func (k *Kubelet) ask(ctx context.Context, pod string, do func(context.Context) error) error {
	once := func() error {
		limited, cancel := context.WithTimeout(ctx, patient)
		defer cancel()
		return do(limited)
	}
	for n := 1; ; n++ {
		err := once()
		if err == nil || apierrors.IsNotFound(err) {
			return nil
		}
		if ctx.Err() != nil {
			return err
		}
		if n == tries {
			k.Log(fmt.Sprintf("Pod %s: %s; given up after %d tries", pod, err, n))
			return err
		}
		k.Log(fmt.Sprintf("Pod %s: %s; it is tried again", pod, err))
		select {
		case <-ctx.Done():
			return err
		case <-time.After(k.pause):
		}
	}
}
