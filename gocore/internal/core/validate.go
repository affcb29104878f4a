// SPDX-License-Identifier: Apache-2.0

package core

import (
	"context"
	"io"

	"github.com/sirupsen/logrus"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/kube"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/submission"
)

// Validate checks a submission as the user who submits. A site file that cannot be read
// is a fault: on the Slurm node it would be one too.
func Validate(fields []string) (faults, warnings []string) {
	logrus.SetOutput(io.Discard)
	config, err := site.Load(request(fields).get("config"))
	if err != nil {
		return []string{err.Error()}, nil
	}
	request := submission.ParseRequest(fields)
	result := submission.Check(context.Background(), request, config,
		submission.LocalDeps(config, submission.ShapesOf(request.Places(config), publishedShapes)))
	return result.Faults, result.Warnings
}

// publishedShapes needs the reader's credential; nil where the site has none.
func publishedShapes(config *site.Config) submission.Shapes {
	if config.ReaderKubeconfig == "" {
		return nil
	}
	return submission.PublishedShapes(config.SystemNamespace(), func() (*kube.Client, error) {
		return kube.Open(config.ReaderKubeconfig, nil)
	})
}
