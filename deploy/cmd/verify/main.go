// SPDX-License-Identifier: Apache-2.0

// Command verify tries what the accounts of slurm-k8s can do in a cluster where
// "kubectl apply -k deploy" was done, and what not; deploy/verify runs it and says how.
//
// In the namespace itself everything is a dry run. A second namespace, slurm-k8s-verify-PID,
// is made and removed: there the accounts may do anything by RBAC and no Pod Security profile
// stands before the policies, so that what is refused there is refused by the policy alone.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// verifier is one run.
type verifier struct {
	server
	namespace, scratch      string
	node, collector, reader string // accounts
	tenantsAccount          string // empty: deploy/tenants is not applied
	data                    string // folder of the tables
	verbose                 bool
	passed, failed          int
}

// errStop is why verify cannot look at all.
var errStop = errors.New("cannot look")

func main() {
	v := &verifier{
		namespace: setting("SLURM_K8S_NAMESPACE", "slurm"),
		node:      setting("SLURM_K8S_NODE_ACCOUNT", "slurm-k8s-node"),
		collector: setting("SLURM_K8S_COLLECTOR_ACCOUNT", "slurm-k8s-collector"),
		reader:    setting("SLURM_K8S_READER_ACCOUNT", "slurm-k8s-reader"),

		tenantsAccount: setting("SLURM_K8S_TENANTS_ACCOUNT", "slurm-k8s-tenants"),
		scratch:        fmt.Sprintf("slurm-k8s-verify-%d", os.Getpid()),
	}
	flag.BoolVar(&v.verbose, "v", false, "every case")
	flag.StringVar(&v.data, "data", "deploy/testdata", "the folder of the tables")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	v.ctx = ctx // ends by a signal
	err := v.run(flag.Args())
	stop()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "verify:", err)
		os.Exit(2)
	case v.failed > 0:
		os.Exit(1)
	}
}

// setting is an environment variable, or what it is by default.
func setting(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

// run tries everything; files: Pods that must be accepted too, and behind "--volumes" those that need the
// namespace's annotation.
func (v *verifier) run(files []string) (err error) {
	if v.server, err = open(v.ctx); err != nil {
		return fmt.Errorf("%w: %w", errStop, err)
	}
	tables, err := v.read(files)
	if err != nil {
		return fmt.Errorf("%w: %w", errStop, err)
	}
	if err := v.look(); err != nil {
		return fmt.Errorf("%w: %w", errStop, err)
	}
	defer v.clean()
	if err := v.prepare(tables.allow); err != nil {
		return fmt.Errorf("%w: namespace %s: %w", errStop, v.scratch, err)
	}
	v.rights()
	v.pods(tables)
	v.exec(tables.pod)
	if err := v.deletions(tables.pod); err != nil {
		return fmt.Errorf("%w: %w", errStop, err)
	}
	v.configMaps()
	v.secrets()
	v.claims()
	v.names(tables.pod)
	if v.tenantsAccount != "" {
		if err := v.tenants(tables.pod); err != nil {
			return fmt.Errorf("%w: namespace %s: %w", errStop, v.tenant(), err)
		}
	}
	if err := v.ctx.Err(); err != nil {
		return fmt.Errorf("%w: ended by a signal", errStop)
	}
	fmt.Printf("%d passed, %d failed\n", v.passed, v.failed)
	return nil
}

// check counts a case: an answer of 2xx is what "ok" expects, everything else is a pattern of the refusal. What is
// refused only because one of the name is there is accepted: admission comes before that look.
func (v *verifier) check(what, expected string, got answer) {
	accepted := got.ok() || strings.Contains(got.text, "already exists")
	good := accepted && expected == "ok"
	if !accepted && expected != "ok" {
		good = regexp.MustCompile(expected).MatchString(got.text)
	}
	said := strings.Join(strings.Fields(got.text), " ")
	switch {
	case !good:
		v.failed++
		fmt.Printf("FAIL  %s: expected %s, got (%d) %s\n", what, expected, got.code, said)
	case v.verbose && expected != "ok":
		fmt.Printf("ok    %s: %s\n", what, said)
	case v.verbose:
		fmt.Printf("ok    %s\n", what)
	}
	if good {
		v.passed++
	}
}

// same counts a comparison.
func (v *verifier) same(what string, expected, found []string) {
	if slices.Equal(expected, found) {
		v.check(what, "ok", answer{code: 200})
		return
	}
	v.check(what, "ok", answer{text: fmt.Sprintf("%q in place of %q", found, expected)})
}

// rule is the pattern of a rule's refusal.
func rule(name string) string { return `slurm-k8s\((` + name + `)\)` }
