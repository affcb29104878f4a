// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// tenantNamespace is a namespace as the core makes it, for the user of pod.yaml.
const tenantNamespace = `
apiVersion: v1
kind: Namespace
metadata:
  name: SCRATCH-tenant
  labels:
    app.kubernetes.io/managed-by: slurm-k8s
    slurm-k8s/jobs: "true"
    slurm-k8s/tenant-of: OURS
    slurm-k8s/cluster: lab
    pod-security.kubernetes.io/enforce: restricted
    pod-security.kubernetes.io/enforce-version: latest
  annotations: {slurm-k8s/namespace: user-ada, slurm-k8s/uid: "1001", slurm-k8s/gid: "1001", slurm-k8s/allow: "", slurm-k8s/template: x}
`

// refusedNamespaces: RULE | WHAT | JSON patch.
const refusedNamespaces = `
tenants-name|of Kubernetes' own|[{"op":"replace","path":"/metadata/name","value":"kube-x"}]
tenants-labels|of another's accounts|[{"op":"replace","path":"/metadata/labels/slurm-k8s~1tenant-of","value":"default"}]
tenants-labels|without our label|[{"op":"remove","path":"/metadata/labels/slurm-k8s~1tenant-of"}]
tenants-labels|without the guard of names|[{"op":"remove","path":"/metadata/labels/slurm-k8s~1jobs"}]
tenants-labels|managed by somebody else|[{"op":"replace","path":"/metadata/labels/app.kubernetes.io~1managed-by","value":"helm"}]
tenants-labels|of no Slurm cluster|[{"op":"remove","path":"/metadata/labels/slurm-k8s~1cluster"}]
tenants-labels|as one of accounts|[{"op":"add","path":"/metadata/labels/slurm-k8s~1system","value":"true"}]
tenants-labels|of nobody|[{"op":"remove","path":"/metadata/annotations/slurm-k8s~1namespace"}]
tenants-level|without a level|[{"op":"remove","path":"/metadata/labels/pod-security.kubernetes.io~1enforce"}]
tenants-allow|that allows what its accounts' does not|[{"op":"replace","path":"/metadata/annotations/slurm-k8s~1allow","value":"hostPath:/slurm-k8s-verify"}]
`

// refusedTenantPods are Pods of anybody's in a namespace of one user's: RULE | WHAT | JSON patch of pod.yaml.
const refusedTenantPods = `
tenant-user|of another user|[{"op":"replace","path":"/spec/securityContext/runAsUser","value":1002}]
tenant-user|of the image's user|[{"op":"remove","path":"/spec/securityContext/runAsUser"}]
tenant-user|of another group|[{"op":"replace","path":"/spec/securityContext/runAsGroup","value":2001}]
tenant-user|of the image's group|[{"op":"remove","path":"/spec/securityContext/runAsGroup"}]
tenant-user|with more groups|[{"op":"add","path":"/spec/securityContext/supplementalGroups","value":[2001]}]
tenant-user|with the image's groups|[{"op":"remove","path":"/spec/securityContext/supplementalGroupsPolicy"}]
tenant-user|with an fsGroup|[{"op":"add","path":"/spec/securityContext/fsGroup","value":2001}]
tenant-container|with a container of another user|[{"op":"add","path":"/spec/containers/0/securityContext/runAsUser","value":1002}]
tenant-container|with a container of another group|[{"op":"add","path":"/spec/containers/0/securityContext/runAsGroup","value":2001}]
tenant-container|that may escalate|[{"op":"remove","path":"/spec/containers/0/securityContext/allowPrivilegeEscalation"}]
tenant-container|with a capability|[{"op":"add","path":"/spec/containers/0/securityContext/capabilities/add","value":["NET_BIND_SERVICE"]}]
tenant-container|with an init container of another user|[{"op":"add","path":"/spec/initContainers","value":[{"name":"i","image":"x","securityContext":{"runAsUser":1002,"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]}}}]}]
tenant-container|with a container that says nothing|[{"op":"add","path":"/spec/containers/1","value":{"name":"i","image":"x"}}]
tenant-host|on the host's network|[{"op":"add","path":"/spec/hostNetwork","value":true}]
tenant-volumes|with a directory of the host|[{"op":"add","path":"/spec/volumes/-","value":{"name":"h","hostPath":{"path":"/etc"}}}]
tenant-volumes|with a server's directory|[{"op":"add","path":"/spec/volumes/-","value":{"name":"h","nfs":{"server":"nas","path":"/"}}}]
tenant-volumes|with a driver's volume|[{"op":"add","path":"/spec/volumes/-","value":{"name":"h","csi":{"driver":"x.csi"}}}]
`

// own makes the Pod somebody's own: not by our names, and without further groups.
const own = `[{"op":"replace","path":"/metadata/name","value":"mine"},{"op":"remove","path":"/metadata/labels"},{"op":"remove","path":"/spec/securityContext/supplementalGroups"}]`

// tenants: what the account may make that makes namespaces, and who may do what in these.
func (v *verifier) tenants(pod bent) error {
	text, err := yaml.YAMLToJSON([]byte(strings.NewReplacer("SCRATCH", v.scratch, "OURS", v.namespace).Replace(tenantNamespace)))
	if err != nil {
		return err
	}
	namespace, name, maker := bent(text), v.tenant(), account(v.namespace, v.tenantsAccount)
	v.eachLine(refusedNamespaces, func(expected, what, patch string) {
		v.check("namespace "+what, rule(expected), v.create(maker, "", namespace.must(patch), dryRun))
	})
	if v.restricted() {
		v.check("namespace of a lower level than its accounts' own", rule("tenants-level"),
			v.create(maker, "", namespace.must(`[{"op":"replace","path":"/metadata/labels/pod-security.kubernetes.io~1enforce","value":"baseline"}]`), dryRun))
	}
	v.check("namespace for a tenant by the node", `cannot create resource "namespaces"`, v.create(account(v.namespace, v.node), "", namespace.must(`[]`), dryRun))
	v.check("namespace for a tenant", "ok", v.create(maker, "", namespace.must(`[]`), really))
	v.tenantObjects(namespace, name, maker)
	if err := v.awaitTenant(pod, name); err != nil {
		return err
	}
	node, collector := account(v.namespace, v.node), account(v.namespace, v.collector)
	v.check("tenant: Pod as the core makes it", "ok", v.create(node, name, pod.must(`[]`), really))
	v.check("tenant: Pod of another uid by the node", rule("pod-tenant"), v.create(node, name, pod.must(`[{"op":"replace","path":"/spec/securityContext/runAsUser","value":1002}]`), dryRun))
	v.check("tenant: podinit's ConfigMap", "ok", v.create(node, name, configMap(podinit, true, "podinit"), really))
	v.check("tenant: another ConfigMap", rule("configmap-name"), v.create(node, name, configMap("mine", true, "podinit"), dryRun))
	v.check("tenant: a Pod's pull secret", "ok", v.create(node, name, secret("slurm-job-1-pull-0123456789abcdef", "slurm-job-1", docker, ".dockerconfigjson", nil), dryRun))
	v.check("tenant: exec of the pump", admitted, v.do(node, http.MethodGet, path("Pod", name, "slurm-job-1", "exec")+"?"+pump+streams, nil))
	v.check("tenant: exec of sh", rule("exec-command"), v.do(node, http.MethodGet, path("Pod", name, "slurm-job-1", "exec")+"?command=sh"+streams, nil))
	v.check("tenant: Pod deleted by the collector", "ok", v.remove(collector, "Pod", name, "slurm-job-1", 1, true))
	v.check("tenant: Pod deleted by the node", "ok", v.remove(node, "Pod", name, "slurm-job-1", 1, false))
	v.check("tenant: podinit's ConfigMap deleted by the collector", "ok", v.remove(collector, "ConfigMap", name, podinit, -1, false))
	v.check("all jobs' Pods listed by the collector", "ok", v.do(collector, http.MethodGet, "/api/v1/pods?limit=1&labelSelector=app%3Dslurm-job", nil))
	for _, what := range []string{"list pods", "get secrets", "delete configmaps", "create rolebindings"} {
		v.mayNot("tenant: "+v.node+": "+what, node, name, what)
	}
	mine, err := json.Marshal(pod.must(own))
	if err != nil {
		return err
	}
	v.check("tenant: somebody's Pod as the namespace's user", "ok", v.create("", name, bent(mine).must(`[]`), dryRun))
	// A site's volumes may need a level at which the profile refuses nothing of this.
	lower := object{"metadata": object{"labels": object{"pod-security.kubernetes.io/enforce": "privileged"}}}
	if err := v.do("", http.MethodPatch, path("Namespace", "", name), lower).err(); err != nil {
		return err
	}
	v.check("tenant: somebody's Pod as the namespace's user, made", "ok", v.create("", name, bent(mine).must(`[]`), really))
	patch := func(rest string, change object) answer {
		return v.do("", http.MethodPatch, path("Pod", name, "mine", rest)+dryRun, change)
	}
	v.check("tenant: somebody's Pod is given a label", "ok", patch("", object{"metadata": object{"labels": object{"a": "b"}}}))
	for uid, expected := range map[int]string{1001: "ok", 1002: rule("tenant-container")} {
		container := object{"name": "debug", "image": "x", "securityContext": object{"runAsUser": uid, "allowPrivilegeEscalation": false, "capabilities": object{"drop": []string{"ALL"}}}}
		v.check(fmt.Sprintf("tenant: somebody's Pod is given a container of uid %d", uid), expected, patch("ephemeralcontainers", object{"spec": object{"ephemeralContainers": []object{container}}}))
	}
	v.eachLine(refusedTenantPods, func(expected, what, patch string) {
		v.check("tenant: somebody's Pod "+what, rule(expected)+byServer, v.create("", name, bent(mine).must(patch), dryRun))
	})
	return nil
}

// tenantObjects: what belongs in the namespace, and what does not.
func (v *verifier) tenantObjects(namespace bent, name, maker string) {
	replace := func(patch string) answer {
		return v.do(maker, http.MethodPut, path("Namespace", "", name)+dryRun, namespace.must(patch))
	}
	v.check("namespace changed", "ok", replace(`[{"op":"add","path":"/metadata/labels/team","value":"x"}]`))
	v.check("namespace given to another user", rule("tenants-labels"), replace(`[{"op":"replace","path":"/metadata/annotations/slurm-k8s~1uid","value":"1002"}]`))
	v.check("namespace given to all users", rule("tenants-labels"), replace(`[{"op":"remove","path":"/metadata/annotations/slurm-k8s~1uid"}]`))
	v.check("namespace given to another Slurm cluster", rule("tenants-labels"), replace(`[{"op":"replace","path":"/metadata/labels/slurm-k8s~1cluster","value":"x"}]`))
	scratch := namespace.must(`[{"op":"replace","path":"/metadata/name","value":"` + v.scratch + `"}]`)
	v.check("namespace of another's made a tenant's", rule("tenants-name"), v.do(maker, http.MethodPut, path("Namespace", "", v.scratch)+dryRun, scratch))
	v.check("namespace deleted", `cannot delete resource "namespaces"`, v.remove(maker, "Namespace", "", name, -1, true))

	quota := func(name string) object {
		return object{"apiVersion": "v1", "kind": "ResourceQuota", "metadata": object{"name": name}, "spec": object{"hard": object{"pods": "10"}}}
	}
	limits := object{"apiVersion": "v1", "kind": "LimitRange", "metadata": object{"name": "slurm-k8s"}, "spec": object{"limits": []object{}}}
	v.check("quota in a tenant's namespace", "ok", v.create(maker, name, quota("slurm-k8s"), really))
	v.check("quota of another name", rule("tenants-object"), v.create(maker, name, quota("mine"), dryRun))
	v.check("quota in another's namespace", rule("tenants-namespace"), v.create(maker, v.scratch, quota("slurm-k8s"), dryRun))
	v.check("quota in kube-system", rule("tenants-namespace"), v.create(maker, "kube-system", quota("slurm-k8s"), dryRun))
	v.check("limits in a tenant's namespace", "ok", v.create(maker, name, limits, really))
	v.check("limits in another's namespace", rule("tenants-namespace"), v.create(maker, v.namespace, limits, dryRun))
	v.check("limits changed", "ok", v.do(maker, http.MethodPut, path("LimitRange", name, "slurm-k8s")+dryRun, limits))

	bind := func(where, role, kind, subject, subjects, how string) answer {
		return v.create(maker, where, object{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": object{"name": subject},
			"roleRef":  object{"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role},
			"subjects": []object{{"kind": "ServiceAccount", "namespace": subjects, "name": subject}},
		}, how)
	}
	const nodes, collectors = "slurm-k8s-tenant-node", "slurm-k8s-tenant-collector"
	v.check("binding of the node's account", "ok", bind(name, nodes, "ClusterRole", v.node, v.namespace, really))
	v.check("binding of the collector's account", "ok", bind(name, collectors, "ClusterRole", v.collector, v.namespace, really))
	v.check("binding of the node's role to the collector", rule("tenants-binding"), bind(name, nodes, "ClusterRole", v.collector, v.namespace, dryRun))
	v.check("binding of somebody's account", rule("tenants-binding"), bind(name, nodes, "ClusterRole", "default", v.namespace, dryRun))
	v.check("binding of another namespace's account", rule("tenants-binding"), bind(name, nodes, "ClusterRole", v.node, v.scratch, dryRun))
	v.check("binding of an administrator's role", "attempting to grant RBAC permissions|"+rule("tenants-binding"), bind(name, "cluster-admin", "ClusterRole", v.node, v.namespace, dryRun))
	v.check("binding in another's namespace", rule("tenants-namespace"), bind(v.scratch, nodes, "ClusterRole", v.node, v.namespace, dryRun))
	v.check("binding in kube-system", rule("tenants-namespace"), bind("kube-system", nodes, "ClusterRole", v.node, v.namespace, dryRun))
}

// restricted tells whether the accounts' own namespace has the strictest level.
func (v *verifier) restricted() bool {
	var namespace struct {
		Metadata struct{ Labels map[string]string }
	}
	err := v.do("", http.MethodGet, path("Namespace", "", v.namespace), nil).into(&namespace)
	return err == nil && namespace.Metadata.Labels["pod-security.kubernetes.io/enforce"] == "restricted"
}

func (v *verifier) tenant() string { return v.scratch + "-tenant" }

// awaitTenant waits for the rights and the default account, which come a moment later.
func (v *verifier) awaitTenant(pod bent, name string) error {
	var got answer
	for range 100 {
		if got = v.create(account(v.namespace, v.node), name, pod.must(`[]`), dryRun); got.ok() {
			return nil
		}
		select {
		case <-v.ctx.Done():
			return v.ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
	return got.err()
}

// eachLine reads "RULE|WHAT|PATCH".
func (v *verifier) eachLine(table string, do func(rule, what, patch string)) {
	for line := range strings.Lines(strings.TrimSpace(table)) {
		expected, rest, _ := strings.Cut(strings.TrimSpace(line), "|")
		what, patch, _ := strings.Cut(rest, "|")
		do(expected, what, patch)
	}
}
