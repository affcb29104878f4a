// SPDX-License-Identifier: Apache-2.0

package main

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/gauge"
)

// Prolog, Epilog and the job as a site would write them with kubectl and jq.
//
//go:embed kubectl
var byKubectl embed.FS

// kubectlWay has them run as Slurm's own Prolog and Epilog, which slurm.conf names as long as this way's turn is.
func (b *bench) kubectlWay() (*way, error) {
	folder := filepath.Join(b.work, "kubectl")
	config, err := os.ReadFile(os.Getenv("KUBECONFIG"))
	if err != nil {
		return nil, err
	}
	mine := filepath.Join(folder, "kubeconfig") // the job is alice's
	if err := errors.Join(os.MkdirAll(folder, 0o755), os.WriteFile(mine, config, 0o600), chownToUser(mine)); err != nil {
		return nil, err
	}
	// What Slurm's environment for Prolog and Epilog lacks. kubectl remembers in HOME what the API server can do.
	environment := fmt.Sprintf("export PATH=%q HOME=%q KUBECONFIG=%q SLURM_CONF=%q\n", os.Getenv("PATH"), folder, os.Getenv("KUBECONFIG"), os.Getenv("SLURM_CONF"))
	if err := os.WriteFile(filepath.Join(folder, "environment"), []byte(environment), 0o644); err != nil {
		return nil, err
	}
	for _, name := range []string{"prolog", "job", "epilog"} {
		text, err := byKubectl.ReadFile("kubectl/" + name)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(strings.ReplaceAll(string(text), "@IMAGE@", benchImage())), 0o755); err != nil {
			return nil, err
		}
	}
	return &way{
		name: kubectlName,
		run: func(way, *gauge.Lines) (float64, error) {
			r, err := b.run("--export=ALL,KUBECONFIG="+mine, filepath.Join(folder, "job"))
			if err != nil {
				return 0, err
			}
			return r.ended.Sub(r.begun).Seconds(), nil
		},
		with: func(do func() error) error {
			slurm, err := b.slurmFile("slurm.conf")
			if err != nil {
				return err
			}
			err = slurm.set(fmt.Appendf(nil, "%s\nProlog=%s\nEpilog=%s\n", slurm.text, filepath.Join(folder, "prolog"), filepath.Join(folder, "epilog")))
			if err == nil {
				err = do()
			}
			return errors.Join(err, slurm.close())
		},
		belongs: func(command string) bool {
			program, _, _ := strings.Cut(command, " ")
			return filepath.Base(program) == "kubectl" || program == "jq" || strings.Contains(command, folder+"/prolog") || strings.Contains(command, folder+"/epilog")
		},
	}, nil
}
