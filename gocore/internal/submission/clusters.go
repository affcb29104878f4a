// SPDX-License-Identifier: Apache-2.0

package submission

import (
	"context"
	"fmt"
	"slices"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/option"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// Places are the site's clusters, as configurations, in which the job may run; of a site that
// names none itself. A name that is wrong is a fault of the option's and counts as not given.
func (r Request) Places(config *site.Config) []*site.Config {
	asked := config.ClusterFor(r.Options[option.Cluster])
	if asked == site.ClusterAuto {
		return config.Each()
	}
	if here, err := config.In(asked); err == nil {
		return []*site.Config{here}
	}
	return []*site.Config{config}
}

// ShapesOf are what the nodes of any of the clusters can give, by what reads one cluster's (nil:
// it publishes none). nil where one of them publishes none: it may hold what the others cannot.
func ShapesOf(places []*site.Config, read func(*site.Config) Shapes) Shapes {
	var sources []Shapes
	for _, place := range places {
		source := read(place)
		if source == nil {
			return nil
		}
		sources = append(sources, source)
	}
	if len(sources) == 1 {
		return sources[0]
	}
	return ShapesFunc(func(ctx context.Context) (podspec.Shapes, error) { return together(ctx, sources) })
}

// together asks all at once: one that does not answer is an error, within ctx.
func together(ctx context.Context, sources []Shapes) (podspec.Shapes, error) {
	type answer struct {
		shapes podspec.Shapes
		err    error
	}
	answers := make([]chan answer, len(sources))
	for i, source := range sources {
		answers[i] = make(chan answer, 1)
		go func() {
			defer func() {
				if r := recover(); r != nil {
					answers[i] <- answer{err: fmt.Errorf("panic: %v", r)}
				}
			}()
			shapes, err := source.Shapes(ctx)
			answers[i] <- answer{shapes, err}
		}()
	}
	var all podspec.Shapes
	for i := range answers {
		a := <-answers[i]
		if a.err != nil {
			return podspec.Shapes{}, a.err
		}
		if i == 0 {
			all = a.shapes
			continue
		}
		all.Shapes = append(all.Shapes, a.shapes.Shapes...)
		all.Labels = slices.DeleteFunc(all.Labels, func(key string) bool { return !slices.Contains(a.shapes.Labels, key) })
		all.Autoscaler = all.Autoscaler || a.shapes.Autoscaler
	}
	return all, nil
}
