// SPDX-License-Identifier: Apache-2.0

// Command rights compares what deploy/ grants with what Kubernetes' audit log shows in use, right by
// right, and fails where one is not used. It looks at the logs of the one-machine cluster, and of one
// for the serial tests beside it, which stay when these are stopped; a whole run of the end to end
// tests must have been on them:
//
//	make rights
//	go run ./tests/rights [AUDIT-LOG...]
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	namespace := flag.String("namespace", "slurm", "of the accounts")
	deploy := flag.String("deploy", "deploy", "the folder of the manifests")
	flag.Parse()
	logs := flag.Args()
	if len(logs) == 0 {
		logs = logsOf(os.Getenv("SLURM_K8S_LAB"))
	}
	unused, err := compare(logs, *namespace, *deploy, filepath.Join(*deploy, "tenants"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "rights:", err)
		os.Exit(2)
	}
	if unused > 0 {
		fmt.Printf("%d rights are not used\n", unused)
		os.Exit(1)
	}
}

// logsOf are the audit logs of a cluster's folder, and of the one for serial tests.
func logsOf(lab string) []string {
	if lab == "" {
		lab = "/var/tmp/slurm-k8s-cluster"
	}
	var all []string
	for _, folder := range []string{lab, lab + "-serial"} {
		files, _ := filepath.Glob(filepath.Join(folder, "log/audit*.log")) // the pattern is well formed
		all = append(all, files...)
	}
	return all
}

// compare prints each right; how many are not used.
func compare(logs []string, namespace string, folders ...string) (unused int, err error) {
	rights, err := granted(folders...)
	if err != nil {
		return 0, err
	}
	seen, err := used(logs, namespace)
	if err != nil {
		return 0, err
	}
	all := make([]right, 0, len(rights))
	for r := range rights {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b right) int { return strings.Compare(a.String(), b.String()) })
	for _, r := range all {
		word := "used  "
		if !seen[r] {
			word = "UNUSED"
			unused++
		}
		fmt.Println(word, r)
	}
	return unused, nil
}
