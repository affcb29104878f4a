// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	corev1 "k8s.io/api/core/v1"
)

func cmdNode(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, len(args) == 2 && !neg && (args[0] == "up" || args[0] == "down"), "node up|down NAME")
	w, name := worldOf(ts), args[1]
	w.lost = append(w.lost, name) // until it is known to be there
	ts.Check(node(args[0], name))
	if args[0] == "up" {
		w.lost = slices.DeleteFunc(w.lost, func(lost string) bool { return lost == name })
	}
}

func cmdOnly(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, len(args) == 1 && !neg, "only NODE|all")
	worldOf(ts).cordoned = true
	ts.Check(only(args[0]))
}

// node starts a Kubernetes node ("up"), or lets it be gone for good ("down").
func node(verb, name string) error {
	// From a directory that stays: daemons keep the one they are started in.
	out, err := run(2*time.Minute, "env", "--chdir=/", filepath.Join(lab.Scripts, "node"), verb, name)
	if err != nil {
		return fmt.Errorf("node %s %s: %w: %s", verb, name, err, tail(out, 5))
	}
	return nil
}

// only lets this Kubernetes node alone take new Pods, or "all" of them, or "none".
func only(name string) error {
	var nodes corev1.NodeList
	if err := lab.Get("/api/v1/nodes", &nodes); err != nil {
		return err
	}
	// A script may have cut a node off; an error says that it has not.
	run(20*time.Second, "kubectl", "taint", "node", "--all", "cut:NoExecute-")
	for _, other := range nodes.Items {
		verb := "cordon"
		if name == "all" || name == other.Name {
			verb = "uncordon"
		}
		if _, err := run(20*time.Second, "kubectl", verb, other.Name); err != nil {
			return err
		}
	}
	return nil
}
