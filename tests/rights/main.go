// SPDX-License-Identifier: Apache-2.0

// Command rights compares what deploy/ grants with what Kubernetes' audit log shows in use, right by
// right, and fails where one is not used. It looks at the log of the one-machine cluster, which stays
// when that is stopped; a whole run of the end to end tests must have been on it:
//
//	make rights
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
	log := flag.String("log", filepath.Join(os.Getenv("SLURM_K8S_LAB"), "log/audit*.log"), "the audit logs, a pattern")
	flag.Parse()
	unused, err := compare(*log, *namespace, *deploy, filepath.Join(*deploy, "tenants"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "rights:", err)
		os.Exit(2)
	}
	if unused > 0 {
		fmt.Printf("%d rights are not used\n", unused)
		os.Exit(1)
	}
}

// compare prints each right; how many are not used.
func compare(log, namespace string, folders ...string) (unused int, err error) {
	rights, err := granted(folders...)
	if err != nil {
		return 0, err
	}
	seen, err := used(log, namespace)
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
