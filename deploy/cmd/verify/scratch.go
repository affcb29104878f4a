// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// scratchObjects are made for the tests: a namespace in which RBAC allows everything, and classes for its Pods.
const scratchObjects = `
apiVersion: v1
kind: Namespace
metadata: {name: SCRATCH, labels: {slurm-k8s/jobs: "true"}, annotations: {slurm-k8s/allow: "ALLOW"}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: NODE}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: COLLECTOR}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: someone}
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: SCRATCH}
handler: SCRATCH
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: SCRATCH-other}
handler: SCRATCH
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: SCRATCH}
value: 0
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: anything}
rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: anything}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: anything}
subjects:
  - {kind: ServiceAccount, namespace: SCRATCH, name: NODE}
  - {kind: ServiceAccount, namespace: SCRATCH, name: COLLECTOR}
  - {kind: ServiceAccount, namespace: SCRATCH, name: someone}
  - {kind: ServiceAccount, namespace: OURS, name: NODE}
  - {kind: ServiceAccount, namespace: OURS, name: COLLECTOR}
`

// look sees that everything is there that the tests need.
func (v *verifier) look() error {
	if err := v.do("", http.MethodGet, path("Namespace", "", v.namespace), nil).err(); err != nil {
		return err
	}
	if !v.may("", "", "*", "*", "") {
		return fmt.Errorf("KUBECONFIG must be an administrator's")
	}
	for _, name := range []string{v.node, v.collector, v.reader} {
		if err := v.do("", http.MethodGet, path("ServiceAccount", v.namespace, name), nil).err(); err != nil {
			return err
		}
	}
	if v.do("", http.MethodGet, path("ServiceAccount", v.namespace, v.tenantsAccount), nil).code == http.StatusNotFound {
		v.tenantsAccount = ""
	}
	return nil
}

// prepare makes the second namespace and waits until it is usable.
func (v *verifier) prepare(allow string) error {
	fill := strings.NewReplacer("SCRATCH", v.scratch, "ALLOW", allow, "NODE", v.node, "COLLECTOR", v.collector, "OURS", v.namespace)
	for _, text := range strings.Split(scratchObjects, "\n---\n") {
		var o object
		if err := yaml.Unmarshal([]byte(fill.Replace(text)), &o); err != nil {
			return err
		}
		if err := v.create("", v.scratch, o, really).err(); err != nil {
			return err
		}
	}
	// The accounts' rights and the default account come a moment later, and so do the policies, where they were
	// applied a moment ago.
	someone := account(v.scratch, "someone")
	forbidden := object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "slurm-k8s-podinit-0000000000000000"}}
	for range 100 {
		if v.do("", http.MethodGet, path("ServiceAccount", v.scratch, "default"), nil).ok() &&
			v.may(someone, v.scratch, "create", "pods", "") && v.may(account(v.scratch, v.node), v.scratch, "create", "pods", "") &&
			v.may(account(v.namespace, v.node), v.scratch, "create", "pods", "") &&
			!v.create(someone, v.scratch, forbidden, dryRun).ok() {
			return nil
		}
		select {
		case <-v.ctx.Done():
			return v.ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
	return fmt.Errorf("it did not become usable (are the policies applied?)")
}

// clean removes what prepare made, also after a signal.
func (v *verifier) clean() {
	s, err := open(context.WithoutCancel(v.ctx))
	if err != nil {
		return
	}
	s.remove("", "RuntimeClass", "", v.scratch, -1, false)
	s.remove("", "RuntimeClass", "", v.scratch+"-other", -1, false)
	s.remove("", "PriorityClass", "", v.scratch, -1, false)
	for _, name := range []string{"slurm-job-1", "slurm-job-2", "database-0", "mine"} {
		s.remove("", "Pod", v.scratch, name, 0, false)
	}
	for _, name := range []string{"slurm-job-1", "mine"} {
		s.remove("", "Pod", v.tenant(), name, 0, false)
	}
	for _, name := range []string{v.tenant(), v.scratch} {
		s.removeNamespace(name)
	}
}

// removeNamespace removes it and waits until it is gone.
func (s server) removeNamespace(name string) {
	if got := s.remove("", "Namespace", "", name, -1, false); got.code == http.StatusNotFound {
		return
	} else if !got.ok() {
		fmt.Fprintf(os.Stderr, "verify: namespace %s is left: %s\n", name, got.text)
		return
	}
	for range 300 {
		if s.do("", http.MethodGet, path("Namespace", "", name), nil).code == http.StatusNotFound {
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
	fmt.Fprintf(os.Stderr, "verify: namespace %s is not gone after a minute\n", name)
}
