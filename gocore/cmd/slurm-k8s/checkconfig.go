// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// checkConfig checks a site file, which may be a draft of anybody's, and says all that is wrong with it.
func checkConfig(_ context.Context, arguments []string, out, faults io.Writer) int {
	flags := newFlags("check-config", faults)
	policy := flags.Bool("policy", false, "print the value of the namespace's annotation "+site.AllowAnnotation+" for the file, and nothing else")
	if code, done := parse(flags, arguments, out, faults); done {
		return code
	}
	if flags.NArg() > 1 {
		fmt.Fprintln(faults, "slurm-k8s check-config: one file at most is wanted (try: slurm-k8s check-config --help)")
		return exitUsage
	}
	path := defaultConfig
	if flags.NArg() == 1 {
		path = flags.Arg(0)
	}
	data, mine, err := site.Read(path)
	if err != nil {
		return complain(faults, "check-config", err.Error())
	}
	config, found := site.Check(data)
	if len(found) > 0 {
		for _, fault := range found {
			fmt.Fprintln(faults, fault.At(path))
		}
		return exitFault
	}
	if mine != nil {
		fmt.Fprintf(faults, "slurm-k8s check-config: warning: the plugin would refuse the file as it lies there: %s\n", mine)
	}
	if *policy {
		fmt.Fprintln(out, strings.Join(config.Allow(), " "))
		return exitOK
	}
	fmt.Fprintf(out, "%s: no fault found\n", path)
	level, why := config.Level()
	if why != "" {
		why = ", since " + why
	}
	for _, place := range config.Each() {
		where := ""
		if place.Kubernetes != "" {
			where = "cluster " + place.Kubernetes + ", "
		}
		if place.ByPattern() {
			fmt.Fprintf(out, "%snamespaces %s, and %s of the accounts: Pod Security level %s%s\n", where, place.Namespace, place.SystemNamespace(), level, why)
			continue
		}
		fmt.Fprintf(out, "%snamespace %s: Pod Security level %s%s\n", where, place.Namespace, level, why)
	}
	return exitOK
}
