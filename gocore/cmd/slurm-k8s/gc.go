// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/collector"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/kube"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/report"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/tenant"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

const (
	// gcLimit bounds a whole run: a timer starts the next one.
	gcLimit = 5 * time.Minute
	// gcGrace is longer than anything takes between a Pod's creation and Slurm knowing of it.
	gcGrace = 2 * time.Minute
	// podinitAge: a node with an older installation may use its podinit again.
	podinitAge = 24 * time.Hour
	// collectorKubeconfig lies beside the node's credential.
	collectorKubeconfig = "collector.kubeconfig"
	// maxPodinit is what a ConfigMap can carry.
	maxPodinit = 1 << 20
)

// gc runs the collector once. It exits with 1 where something could not be done.
func gc(ctx context.Context, arguments []string, out, faults io.Writer) int {
	flags := newFlags("gc", faults)
	path := flags.String("config", defaultConfig, "the site's configuration, a `FILE` (default: "+defaultConfig+")")
	kubeconfig := flags.String("kubeconfig", "", "the collector's credential, a `FILE` (default: "+collectorKubeconfig+" beside the node's)")
	only := flags.String("cluster", "", "only the site's cluster of this `NAME` (default: each)")
	libexec := flags.String("libexec", defaultLibexec, "the `DIRECTORY` of podinit (default: "+defaultLibexec+")")
	grace := flags.Duration("grace", gcGrace, "leave Pods alone that are younger than this `TIME` (default: "+report.Pretty(gcGrace)+")")
	podinits := flags.Duration("podinit-age", podinitAge, "leave podinits of earlier versions alone that are younger than this `TIME` (default: "+report.Pretty(podinitAge)+")")
	dryRun := flags.Bool("dry-run", false, "say what would be done, and do nothing")
	if code, done := parse(flags, arguments, out, faults); done {
		return code
	}
	if flags.NArg() != 0 {
		fmt.Fprintf(faults, "slurm-k8s gc: takes no argument: %q\n", flags.Arg(0))
		return exitUsage
	}
	log := logrus.New()
	log.SetOutput(faults)
	ctx, cancel := context.WithTimeout(ctx, gcLimit)
	defer cancel()

	config, err := site.Load(*path)
	if err != nil {
		return complain(faults, "gc", err.Error())
	}
	places := config.Each()
	if *only != "" {
		place, err := config.In(*only)
		if err != nil {
			return complain(faults, "gc", "--cluster: "+err.Error())
		}
		places = []*site.Config{place}
	}
	if *kubeconfig != "" && len(places) > 1 {
		return complain(faults, "gc", fmt.Sprintf("--kubeconfig: %q is of one cluster, and the site has %d (give --cluster=NAME too)", *kubeconfig, len(places)))
	}
	slurm := collector.Commands{}
	cluster, err := clusterName(ctx, config, slurm)
	if err != nil {
		return complain(faults, "gc", err.Error())
	}
	common := collector.Collector{
		Config: collector.Config{
			Cluster: wellknown.LabelValue(cluster),
			Grace:   *grace, DryRun: *dryRun,
			Podinit: installedPodinit(*libexec, log), PodinitAge: *podinits,
			KeepClaims: config.Claims.Keep.Duration,
			Autoscaler: config.Gate.Autoscaler, NodeLabels: config.NodeLabels(),
		},
		Slurm: asRoot{slurm, os.Geteuid()},
		Out:   out,
		Log:   log.WithField("cluster", cluster),
		Now:   time.Now,
	}
	var found []string
	for _, place := range places {
		if err := collect(ctx, common, place, *kubeconfig); err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				found = append(found, inCluster(place, line))
			}
		}
	}
	if len(found) > 0 {
		return complain(faults, "gc", found...)
	}
	return exitOK
}

// collect runs the collector in one of the site's clusters. One that does not answer keeps no
// other from its turn.
func collect(ctx context.Context, run collector.Collector, place *site.Config, kubeconfig string) error {
	if kubeconfig == "" {
		kubeconfig = collectorsKubeconfig(place)
	}
	client, err := kube.Open(kubeconfig, site.CheckCredential)
	if err != nil {
		return err
	}
	cluster := collector.RESTCluster{REST: client.REST}
	run.Namespace = place.SystemNamespace()
	run.Kubernetes = cluster
	if place.ByPattern() {
		run.Tenants = &collector.Tenants{Site: place, List: cluster.ListNamespaces}
		if run.Tenants.Renew, err = renewing(place); err != nil {
			return err
		}
	}
	if place.Kubernetes != "" {
		run.Log = run.Log.WithField("kubernetes", place.Kubernetes)
	}
	return run.Run(ctx)
}

// renewing is how tenants' namespaces are brought up to date; nil where the credential for that is
// not on this host.
func renewing(place *site.Config) (func(context.Context, tenant.Objects) error, error) {
	client, err := kube.Open(place.TenantsKubeconfig(), site.CheckCredential)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return client.RenewTenant, nil
}

// inCluster says of a line which of the site's clusters it is about, where it names several.
func inCluster(place *site.Config, line string) string {
	if place.Kubernetes == "" {
		return line
	}
	return "cluster " + place.Kubernetes + ": " + line
}

// collectorsKubeconfig lies beside the node's.
func collectorsKubeconfig(config *site.Config) string { return config.Beside(collectorKubeconfig) }

// clusterName is the name in the labels of the Pods: the site's, else Slurm's.
func clusterName(ctx context.Context, config *site.Config, slurm collector.Commands) (string, error) {
	if config.Cluster != "" {
		return config.Cluster, nil
	}
	name, err := slurm.ClusterName(ctx)
	if err != nil {
		return "", fmt.Errorf("the Slurm cluster's name is not known: %w", err)
	}
	return name, nil
}

// asRoot refuses to believe what Slurm tells other users: with PrivateData they do not see
// all jobs, and a job not seen would cost it its Pod.
type asRoot struct {
	collector.Slurm
	uid int
}

// Jobs implements collector.Slurm.
func (s asRoot) Jobs(ctx context.Context) (map[uint32]collector.Job, error) {
	if s.uid != 0 {
		return nil, errors.New("only root is sure to be told of all jobs (run gc as root)")
	}
	return s.Slurm.Jobs(ctx)
}

// installedPodinit names the ConfigMap of the podinit that is installed here, or "".
func installedPodinit(libexec string, log logrus.FieldLogger) string {
	file, err := os.Open(filepath.Join(libexec, wellknown.PodinitKey))
	if err != nil {
		log.Warnf("podinit: %s", err)
		return ""
	}
	defer file.Close()
	program, err := io.ReadAll(io.LimitReader(file, maxPodinit))
	if err != nil || len(program) == 0 {
		log.Warnf("podinit %q cannot be read: %v", file.Name(), err)
		return ""
	}
	return wellknown.PodinitConfigMap(program)
}
