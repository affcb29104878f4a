// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/gauge"
)

// loadCore is a program that loads the core as the plugin does, and prints how long that took.
//
//go:embed programs/load.c
var loadCore []byte

// programs are the sizes of what is installed, and what it takes to start.
func (b *bench) programs(lines *gauge.Lines) error {
	libexec := filepath.Join(b.lab.Dir, "libexec")
	core, command := filepath.Join(libexec, "gocore.so"), filepath.Join(b.lab.Dir, "bin/slurm-k8s")
	for _, path := range []string{core, filepath.Join(libexec, "relay"), filepath.Join(libexec, "podinit"), filepath.Join(b.lab.Dir, "lib/spank_k8s.so"), command} {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		lines.Add("size of "+filepath.Base(path), "KB", "", float64(info.Size())/1000)
	}
	source, program := filepath.Join(b.work, "load.c"), filepath.Join(b.work, "load")
	if err := os.WriteFile(source, loadCore, 0o644); err != nil {
		return err
	}
	if out, err := exec.Command("gcc", "-O2", "-o", program, source, "-ldl").CombinedOutput(); err != nil {
		return fmt.Errorf("gcc: %w: %s", err, out)
	}
	return gauge.Turns(2*b.n, func() error {
		out, err := exec.Command(program, core).Output()
		if err != nil {
			return err
		}
		var open, call, anonymous float64
		if _, err := fmt.Sscan(string(out), &open, &call, &anonymous); err != nil {
			return fmt.Errorf("%s says %q: %w", program, strings.TrimSpace(string(out)), err)
		}
		lines.Add("dlopen of gocore.so", "ms", "", open)
		lines.Add("dlopen of gocore.so, with the first call's return", "ms", "", call)
		lines.Add("dlopen of gocore.so: anonymous memory", "MB", "", anonymous/1e3)
		return nil
	}, func() error {
		seconds, err := gauge.Timed(exec.Command(command, "--version").Run)
		lines.Add("slurm-k8s --version", "ms", "", 1000*seconds)
		return err
	})
}
