// SPDX-License-Identifier: Apache-2.0

package submission

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/option"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// Shapes says what the cluster's nodes can give.
type Shapes interface {
	Shapes(ctx context.Context) (podspec.Shapes, error)
}

// ShapesFunc is a Shapes of one function.
type ShapesFunc func(ctx context.Context) (podspec.Shapes, error)

// Shapes implements Shapes.
func (f ShapesFunc) Shapes(ctx context.Context) (podspec.Shapes, error) { return f(ctx) }

// ConfigMapReader is the one thing that the reader's credential may do.
type ConfigMapReader interface {
	GetConfigMap(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error)
}

// PublishedShapes reads what the collector published in namespace. open makes the client and
// is called within the check, so that a slow file system costs it no more than its time.
func PublishedShapes[R ConfigMapReader](namespace string, open func() (R, error)) Shapes {
	return ShapesFunc(func(ctx context.Context) (podspec.Shapes, error) {
		reader, err := open()
		if err != nil {
			return podspec.Shapes{}, err
		}
		object, err := reader.GetConfigMap(ctx, namespace, wellknown.NodesConfigMap)
		if err != nil {
			return podspec.Shapes{}, err
		}
		text, ok := object.Data[wellknown.NodesKey]
		if !ok {
			return podspec.Shapes{}, fmt.Errorf("ConfigMap %s/%s has no %s", namespace, wellknown.NodesConfigMap, wellknown.NodesKey)
		}
		return podspec.ParseShapes([]byte(text))
	})
}

// checkShapes refuses what no node could ever hold, were it empty, and what Kubernetes has no
// name for. Where only steps go to Pods it warns: they may be smaller than the job.
func checkShapes(ctx context.Context, r Request, config *site.Config, shapes Shapes) []finding {
	never := fault
	what := "the job can never start"
	if r.Tool == "salloc" || r.leavesScript() {
		never, what = warning, "a step with all that the job has on a node can never start"
	}
	j := needOf(r).job(config.Resources.WholeNode)
	if value := r.Options[option.NodeSelector]; option.CheckNodeSelector(value, config.Placement) == nil { // else it is said elsewhere
		j.Options.NodeSelector = value
	}
	j.Account, j.Partition, j.QOS = theOne(r, "account"), theOne(r, "partition"), theOne(r, "qos")
	asked, err := podspec.RequestFor(j, config)
	if err != nil {
		return []finding{never("%s: %s", what, err)}
	}
	if shapes == nil {
		return nil
	}
	published, err := shapes.Shapes(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return lateShapes()
		}
		return []finding{warning("whether a node could ever hold the job was not checked: the published node shapes cannot be read (slurm-k8s gc publishes them) [%s]", err)}
	}
	if holds, why := published.Holds(asked); !holds {
		return []finding{never("%s: %s (asked for: %s; ask for less)", what, why, asked)}
	}
	return nil
}

// theOne is the value of an option that names one thing; of several nobody knows yet which it will be.
func theOne(r Request, name string) string {
	value, _ := r.given(name)
	if strings.Contains(value, ",") {
		return ""
	}
	return value
}

func lateShapes() []finding {
	return []finding{warning("whether a node could ever hold the job was not checked: Kubernetes did not answer in time")}
}
