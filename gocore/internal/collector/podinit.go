// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	corev1 "k8s.io/api/core/v1"
)

// podinitName is the name of a ConfigMap with a podinit (wellknown.PodinitConfigMap).
var podinitName = regexp.MustCompile(`^slurm-k8s-podinit-[0-9a-f]{16}$`)

// removePodinits deletes the ConfigMaps of podinits that are not the installed one, that no
// Pod uses and that are old: another node may just be about to use a young one.
func (c *Collector) removePodinits(ctx context.Context, namespaces []string, pods []corev1.Pod) error {
	if c.Podinit == "" {
		c.Log.Warn("the installed podinit is not known: no ConfigMap of an earlier one is removed")
		return nil
	}
	used := usedConfigMaps(pods)
	var faults []error
	for _, namespace := range turn(namespaces, c.Now()) {
		faults = append(faults, c.removePodinitsOf(ctx, namespace, used))
	}
	return errors.Join(faults...)
}

func (c *Collector) removePodinitsOf(ctx context.Context, namespace string, used map[string]bool) error {
	all, err := c.Kubernetes.ListConfigMaps(ctx, namespace)
	if err != nil {
		return fmt.Errorf("cannot list the ConfigMaps of namespace %s: %w", namespace, err)
	}
	var faults []error
	for _, object := range all {
		age := c.Now().Sub(object.CreationTimestamp.Time)
		if !podinitName.MatchString(object.Name) || object.Name == c.Podinit || used[object.Name] || age < c.PodinitAge ||
			object.DeletionTimestamp != nil {
			continue
		}
		faults = append(faults, c.do(c.Log, "delete", "ConfigMap "+namespace+"/"+object.Name, "an earlier podinit, which no Pod uses", func() error {
			return c.Kubernetes.DeleteConfigMap(ctx, namespace, object.Name, object.UID)
		}))
	}
	return errors.Join(faults...)
}

// usedConfigMaps are those that the Pods mount.
func usedConfigMaps(pods []corev1.Pod) map[string]bool {
	used := map[string]bool{}
	for i := range pods {
		for _, volume := range pods[i].Spec.Volumes {
			if volume.ConfigMap != nil {
				used[volume.ConfigMap.Name] = true
			}
			if volume.Projected == nil {
				continue
			}
			for _, source := range volume.Projected.Sources {
				if source.ConfigMap != nil {
					used[source.ConfigMap.Name] = true
				}
			}
		}
	}
	return used
}
