// SPDX-License-Identifier: Apache-2.0

package collector

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// controlPlane taints keep every Pod without a toleration away for good; ours have none.
var controlPlane = map[string]bool{
	"node-role.kubernetes.io/control-plane": true,
	"node-role.kubernetes.io/master":        true,
}

// publishShapes writes what the nodes can give into the ConfigMap that sbatch reads, if that
// has changed.
func (c *Collector) publishShapes(ctx context.Context) error {
	shapes := podspec.Shapes{V: podspec.ShapesVersion, Autoscaler: c.Autoscaler, At: c.Now(), Labels: c.NodeLabels}
	nodes, away := 0, 0
	err := c.Kubernetes.EachNode(ctx, func(node *corev1.Node) {
		shape, ok := shapeOf(node)
		if !ok {
			return
		}
		nodes++
		shape.Labels = labelsOf(node, c.NodeLabels)
		if !available(node) {
			away++ // it may come back: what it could hold is not said never to fit
		}
		shapes.Shapes = append(shapes.Shapes, shape)
	})
	if err != nil {
		return fmt.Errorf("cannot list the nodes: %w", err)
	}
	if away > 0 {
		c.Log.Infof("%d of %d nodes are cordoned or not ready; their shapes are published all the same", away, nodes)
	}
	if nodes == 0 {
		// An empty list says nothing of the nodes to come.
		c.Log.Warn("Kubernetes has no node for jobs: the published shapes stay as they are")
		return nil
	}
	text, err := podspec.EncodeShapes(shapes)
	if err != nil {
		return fmt.Errorf("cannot encode the node shapes: %w", err)
	}
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: wellknown.NodesConfigMap}}
	found, err := c.Kubernetes.GetConfigMap(ctx, c.Namespace, wellknown.NodesConfigMap)
	switch {
	case err == nil:
		if old, err := podspec.ParseShapes([]byte(found.Data[wellknown.NodesKey])); err == nil && shapes.Same(old) {
			return nil
		}
		object = found
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("cannot read ConfigMap %s/%s: %w", c.Namespace, wellknown.NodesConfigMap, err)
	}
	object.Data = map[string]string{wellknown.NodesKey: string(text)}
	return c.do(c.Log, "update", "ConfigMap "+c.Namespace+"/"+wellknown.NodesConfigMap, fmt.Sprintf("shapes of %d nodes", nodes), func() error {
		return c.Kubernetes.ApplyConfigMap(ctx, object)
	})
}

// shapeOf is what a node can give to Pods. Of devices its capacity: allocatable drops to
// nothing while a device plugin restarts. False: no Pod of ours ever goes there.
func shapeOf(node *corev1.Node) (podspec.Shape, bool) {
	for _, taint := range node.Spec.Taints {
		if controlPlane[taint.Key] && taint.Effect != corev1.TaintEffectPreferNoSchedule {
			return podspec.Shape{}, false
		}
	}
	allocatable := node.Status.Allocatable
	shape := podspec.Shape{CPU: allocatable.Cpu().MilliValue(), Memory: allocatable.Memory().Value(), Count: 1}
	if shape.CPU <= 0 || shape.Memory <= 0 {
		return podspec.Shape{}, false // it has only just come and said nothing yet
	}
	for name, quantity := range node.Status.Capacity {
		if isExtended(string(name)) && quantity.Value() > 0 {
			if shape.Resources == nil {
				shape.Resources = map[string]int64{}
			}
			shape.Resources[string(name)] = quantity.Value()
		}
	}
	return shape, true
}

// labelsOf are those of a node's labels that the site's configuration names; nil where it has none.
func labelsOf(node *corev1.Node, keys []string) map[string]string {
	var labels map[string]string
	for _, key := range keys {
		if value, ok := node.Labels[key]; ok {
			if labels == nil {
				labels = map[string]string{}
			}
			labels[key] = value
		}
	}
	return labels
}

// isExtended tells device plugins' resources, DOMAIN/NAME, from Kubernetes' own.
func isExtended(name string) bool {
	domain, _, ok := strings.Cut(name, "/")
	return ok && domain != "kubernetes.io" && !strings.HasSuffix(domain, ".kubernetes.io")
}

// available says whether the scheduler would use a node now.
func available(node *corev1.Node) bool {
	if node.Spec.Unschedulable {
		return false
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
