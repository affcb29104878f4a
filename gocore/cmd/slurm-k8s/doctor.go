// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/collector"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/doctor"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/kube"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/registry"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

const (
	// doctorLimit bounds all checks together.
	doctorLimit = 2 * time.Minute
	// defaultState is where the plugin keeps its markers.
	defaultState = "/run/slurm-k8s"
)

// lookAtAll checks an installation from this host, and exits with 1 where something is wrong.
func lookAtAll(ctx context.Context, arguments []string, out, faults io.Writer) int {
	flags := newFlags("doctor", faults)
	path := flags.String("config", "", "the site's configuration, a `FILE` (default: what plugstack.conf says)")
	libexec := flags.String("libexec", "", "the `DIRECTORY` of the programs (default: what plugstack.conf says)")
	image := flags.String("image", "", "also ask the registry for this `IMAGE`")
	if code, done := parse(flags, arguments, out, faults); done {
		return code
	}
	if flags.NArg() != 0 {
		fmt.Fprintf(faults, "slurm-k8s doctor: takes no argument: %q\n", flags.Arg(0))
		return exitUsage
	}
	ctx, cancel := context.WithTimeout(ctx, doctorLimit)
	defer cancel()
	checks, line := slurmChecks(ctx)
	*path = first(*path, line.Arguments["config"], defaultConfig)
	*libexec = first(*libexec, line.Arguments["libexec"], defaultLibexec)
	checks = append(checks, doctor.Libexec(*libexec, site.CheckProgram), doctor.Config(*path))
	if os.Geteuid() == 0 {
		checks = append(checks, doctor.StateFolder(first(line.Arguments["state"], defaultState)))
	}
	if config, err := site.Load(*path); err == nil { // else Config has said why not
		for _, place := range config.Each() {
			for _, check := range clusterChecks(ctx, place) {
				checks = append(checks, doctor.In(place.Kubernetes, check))
			}
		}
		if *image != "" {
			checks = append(checks, doctor.Image(*image, askRegistry(config)))
		}
	}
	if doctor.Run(ctx, out, checks...) > 0 {
		return exitFault
	}
	return exitOK
}

func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// slurmChecks are those of Slurm's side, and the plugin's line in plugstack.conf.
func slurmChecks(ctx context.Context) (checks []doctor.Check, line doctor.Line) {
	text, err := exec.CommandContext(ctx, "scontrol", "show", "config").Output()
	if err != nil {
		return []doctor.Check{doctor.Unseen("slurm.conf", "run it on a host with Slurm's commands while slurmctld runs", fmt.Errorf("scontrol show config: %w", err))}, line
	}
	settings := doctor.ParseSettings(string(text))
	plugstack := settings.Plugstack()
	lines, err := doctor.FindLines(plugstack)
	if err != nil {
		return []doctor.Check{doctor.SlurmSettings(settings), doctor.Unseen("plugin", "", err)}, line
	}
	if len(lines) > 0 {
		line = lines[0]
	}
	version, _ := exec.CommandContext(ctx, "scontrol", "--version").Output() // none: the release is not compared
	return []doctor.Check{doctor.SlurmSettings(settings), doctor.Plugin(lines, plugstack, string(version))}, line
}

// clusterChecks are those of Kubernetes' side, as far as this user may see the credentials.
func clusterChecks(ctx context.Context, config *site.Config) []doctor.Check {
	collectors := collectorsKubeconfig(config)
	var checks []doctor.Check
	if os.Geteuid() == 0 {
		cluster, err := clusterName(ctx, config, collector.Commands{})
		if err != nil {
			cluster = "doctor"
		}
		checks = append(checks,
			doctor.Rights(doctor.Node, config.SystemNamespace(), opening[doctor.Asker](config.Kubeconfig, site.CheckCredential)),
			doctor.Admission(config, cluster, opening[doctor.Creator](config.Kubeconfig, site.CheckCredential)))
		account := doctor.Collector
		if config.ByPattern() {
			account = doctor.CollectorOfTenants
			checks = append(checks, tenantChecks(config, cluster, collectors)...)
		}
		if _, err := os.Stat(collectors); err == nil {
			checks = append(checks, doctor.Rights(account, config.SystemNamespace(), opening[doctor.Asker](collectors, site.CheckCredential)))
		}
		checks = append(checks, doctor.Nodes(func() (doctor.NodeLister, error) {
			client, err := kube.Open(collectors, site.CheckCredential)
			if err != nil {
				return nil, err
			}
			return collector.RESTCluster{REST: client.REST}, nil
		}))
	} else {
		checks = append(checks, doctor.Closed(config.CredentialFile()))
	}
	if config.ReaderKubeconfig == "" {
		return append(checks, doctor.Unseen("reader", "reader_kubeconfig in the site's file", errors.New("no reader_kubeconfig: sbatch cannot refuse what no node can hold")))
	}
	return append(checks,
		doctor.Rights(doctor.Reader, config.SystemNamespace(), opening[doctor.Asker](config.ReaderKubeconfig, nil)),
		doctor.Published(shapesOf(config)))
}

// tenantChecks are those of namespaces by a pattern.
func tenantChecks(config *site.Config, cluster, collectors string) []doctor.Check {
	var checks []doctor.Check
	if config.Tenants.Create {
		tenants := config.TenantsKubeconfig()
		checks = append(checks,
			doctor.Rights(doctor.Tenants, config.SystemNamespace(), opening[doctor.Asker](tenants, site.CheckCredential)),
			doctor.Making(config, cluster, opening[doctor.NamespaceCreator](tenants, site.CheckCredential)))
	}
	return append(checks, doctor.Made(config, cluster, func() (doctor.NamespaceLister, error) {
		client, err := kube.Open(collectors, site.CheckCredential)
		if err != nil {
			return nil, err
		}
		return collector.RESTCluster{REST: client.REST}, nil
	}))
}

// opening opens a credential when it is wanted.
func opening[T any](path string, check func(*os.File) error) func() (T, error) {
	return func() (T, error) {
		var none T
		client, err := kube.Open(path, check)
		if err != nil {
			return none, err
		}
		return any(client).(T), nil
	}
}

// askRegistry asks as sbatch does.
func askRegistry(config *site.Config) func(context.Context, string) error {
	return func(ctx context.Context, image string) error {
		result := registry.Check(ctx, image, registry.Options{Insecure: config.Submission.InsecureRegistries})
		if result.Kind == registry.Exists {
			return nil
		}
		return fmt.Errorf("%s: %s [%s]", result.Registry, result.Kind, result.Reason)
	}
}
