// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// Creator makes Pods that nobody keeps (dryRun=All): admission says what it would say.
type Creator interface {
	DryRunPod(ctx context.Context, pod *corev1.Pod) error
}

// bad are Pods that no policy of ours lets through, whatever the site allows: of each the one change.
var bad = map[string]func(*corev1.Pod){
	"a Pod of uid 0":                   func(p *corev1.Pod) { p.Spec.SecurityContext.RunAsUser = new(int64(0)) },
	"a privileged container":           func(p *corev1.Pod) { p.Spec.Containers[0].SecurityContext.Privileged = new(true) },
	"a Pod that is not of a Slurm job": func(p *corev1.Pod) { p.Labels[wellknown.LabelApp] = "other" },
	"a Pod on the host's network":      func(p *corev1.Pod) { p.Spec.HostNetwork = true },
}

// Admission checks that Kubernetes takes an ordinary job's Pod, and no others. It makes none.
func Admission(config *site.Config, cluster string, open func() (Creator, error)) Check {
	return func(ctx context.Context) []Finding {
		const about = "admission"
		creator, err := open()
		if err != nil {
			return []Finding{skipped(about, "", "%s", err)}
		}
		sample, err := samplePod(config, cluster)
		if err != nil {
			return []Finding{fault(about, "", "no Pod can be made for a job: %s", err)}
		}
		err = creator.DryRunPod(ctx, sample)
		switch class := podstatus.ClassifyError(err); {
		case err == nil:
		case class == podstatus.ClassCapacity:
			return []Finding{warning(about, "kubectl -n "+config.SystemNamespace()+" describe resourcequota", "the quota of namespace %s leaves no room for one cpu: %s", config.SystemNamespace(), podstatus.Rule(err))}
		case apierrors.IsNotFound(err):
			return []Finding{fault(about, "kubectl apply -k deploy", "%s", podstatus.Rule(err))}
		default:
			return []Finding{fault(about, "kubectl apply -k deploy, or whatever the rule's owner says", "Kubernetes refuses an ordinary job's Pod: %s", podstatus.Rule(err))}
		}
		var found []Finding
		for what, change := range bad {
			pod := sample.DeepCopy()
			change(pod)
			if err := creator.DryRunPod(ctx, pod); err == nil {
				found = append(found, fault(about, "kubectl apply -k deploy: its policies are not there, or not bound to namespace "+config.SystemNamespace(), "Kubernetes would take %s from a Slurm node", what))
			} else if class := podstatus.ClassifyError(err); class != podstatus.ClassFinal {
				found = append(found, skipped(about, "", "whether Kubernetes would take %s is not known: %s", what, podstatus.Rule(err)))
			}
		}
		if len(found) == 0 {
			found = append(found, good(about, "Kubernetes takes an ordinary job's Pod in namespace %s, and refuses what must be refused", config.SystemNamespace()))
		}
		return found
	}
}

// samplePod is an ordinary job's, by a number that no job has.
func samplePod(config *site.Config, cluster string) (*corev1.Pod, error) {
	const nobody = 65534
	return podspec.Build(podspec.Input{
		Job: job.Job{
			Namespace: site.Namespace{Name: config.SystemNamespace()},
			ID:        math.MaxInt32, Step: wellknown.StepBatch, Cluster: cluster, Node: "doctor", UID: nobody, GID: nobody, User: "nobody",
			CPUs: 1, MemoryMiB: 64, Nodes: 1, Tasks: 1, TimeLimit: time.Minute, Options: job.Options{Image: "doctor:1"},
		},
		Site: config, Session: 1, PodinitConfigMap: wellknown.PodinitConfigMap([]byte("doctor")),
	})
}

// NodeLister is what the collector's credential may do.
type NodeLister interface {
	EachNode(ctx context.Context, see func(*corev1.Node)) error
}

// Nodes checks that each Kubernetes node keeps supplementalGroupsPolicy: a node that does not know it lets an
// image's /etc/group put its user into any group.
func Nodes(open func() (NodeLister, error)) Check {
	return func(ctx context.Context) []Finding {
		const about = "nodes"
		lister, err := open()
		if err != nil {
			return []Finding{skipped(about, "run it where the collector runs", "%s", err)}
		}
		count := 0
		var found []Finding
		err = lister.EachNode(ctx, func(node *corev1.Node) {
			count++
			if features := node.Status.Features; features == nil || features.SupplementalGroupsPolicy == nil || !*features.SupplementalGroupsPolicy {
				found = append(found, fault(about, "containerd 2.0 or CRI-O 1.31, and kubelet 1.33, or keep jobs away from it by a taint", "node %s does not know supplementalGroupsPolicy Strict: no job's Pod starts there", node.Name))
			}
		})
		switch {
		case err != nil:
			return []Finding{fault(about, "", "the nodes cannot be listed: %s", err)}
		case count == 0:
			return []Finding{fault(about, "", "Kubernetes has no nodes")}
		case len(found) == 0:
			found = append(found, good(about, "all %d know supplementalGroupsPolicy Strict", count))
		}
		return found
	}
}

// ShapesSource reads what the collector published.
type ShapesSource interface {
	Shapes(ctx context.Context) (podspec.Shapes, error)
}

// Published checks that the collector publishes the nodes' shapes.
func Published(source ShapesSource) Check {
	return func(ctx context.Context) []Finding {
		const about = "shapes"
		shapes, err := source.Shapes(ctx)
		if err != nil {
			return []Finding{warning(about, "slurm-k8s gc, by a timer (docs/operations.md)", "what the nodes can give is not published, so that sbatch cannot refuse what no node can hold: %s", err)}
		}
		nodes := 0
		for _, shape := range shapes.Shapes {
			nodes += shape.Count
		}
		return []Finding{good(about, "those of %d nodes are published; they last changed at %s", nodes, shapes.At.Format(time.RFC3339))}
	}
}

// Image checks that a registry has an image; ask gives what it says of one that is not to be had.
func Image(image string, ask func(ctx context.Context, image string) error) Check {
	return func(ctx context.Context) []Finding {
		const about = "registry"
		if err := ask(ctx, image); err != nil {
			return []Finding{fault(about, "the name, the registry's address, submission.insecure_registries for plain HTTP", "%s: %s", image, err)}
		}
		return []Finding{good(about, "%s is there", fmt.Sprintf("%q", image))}
	}
}
