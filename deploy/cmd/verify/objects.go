// SPDX-License-Identifier: Apache-2.0

package main

import "net/http"

// deletions: a job's Pods, and not by force.
func (v *verifier) deletions(pod bent) error {
	for _, patch := range []string{
		`[{"op":"replace","path":"/metadata/name","value":"database-0"},{"op":"remove","path":"/metadata/labels"}]`,
		`[{"op":"replace","path":"/metadata/name","value":"slurm-job-2"},{"op":"replace","path":"/metadata/labels/job-id","value":"2"},
		  {"op":"add","path":"/spec/nodeName","value":"slurm-k8s-verify"}]`,
	} {
		if err := v.create("", v.scratch, pod.must(patch), really).err(); err != nil {
			return err
		}
	}
	for _, name := range []string{v.node, v.collector} {
		who := account(v.scratch, name)
		v.check(name+" deletes a Pod that is not a job's", rule("delete-label"), v.remove(who, "Pod", v.scratch, "database-0", -1, true))
		v.check(name+" deletes a job's Pod by force", rule("delete-force"), v.remove(who, "Pod", v.scratch, "slurm-job-2", 0, true))
		v.check(name+" deletes a job's Pod", "ok", v.remove(who, "Pod", v.scratch, "slurm-job-2", 1, true))
		v.check(name+" deletes in another namespace", rule("delete-namespace"), v.remove(account(v.namespace, name), "Pod", v.scratch, "slurm-job-2", -1, true))
	}
	v.check(v.node+" deletes the Pod that never ran", "ok", v.remove(account(v.scratch, v.node), "Pod", v.scratch, "slurm-job-1", -1, false))
	return nil
}

const podinit = "slurm-k8s-podinit-0123456789abcdef"

func configMap(name string, immutable bool, keys ...string) object {
	data := object{}
	for _, key := range keys {
		data[key] = "AA=="
	}
	return object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": name}, "immutable": immutable, "binaryData": data}
}

// configMaps: podinit's is the node's to make, the nodes' shapes are the collector's.
func (v *verifier) configMaps() {
	for _, where := range []string{v.namespace, v.scratch} {
		node, collector := account(where, v.node), account(where, v.collector)
		try := func(what, expected, who string, o object) {
			v.check(where+": "+what, expected, v.create(who, where, o, dryRun))
		}
		try("podinit's ConfigMap", "ok", node, configMap(podinit, true, "podinit"))
		try("podinit's ConfigMap, mutable", rule("configmap-content"), node, configMap(podinit, false, "podinit"))
		try("podinit's ConfigMap, two keys", rule("configmap-content"), node, configMap(podinit, true, "podinit", "x"))
		try("podinit's ConfigMap, another key", rule("configmap-content"), node, configMap(podinit, true, "x"))
		try("another ConfigMap by the node", rule("configmap-name"), node, configMap("evil", true, "podinit"))
		try("slurm-k8s-nodes by the node", rule("configmap-name"), node, configMap("slurm-k8s-nodes", true, "podinit"))
		try("slurm-k8s-nodes by the collector", "ok", collector, configMap("slurm-k8s-nodes", false, "shapes.json"))
		try("podinit's ConfigMap by the collector", rule("configmap-name|names"), collector, configMap(podinit, true, "podinit"))
		v.check(where+": another ConfigMap deleted by the collector", rule("configmap-name"), v.remove(collector, "ConfigMap", where, "kube-root-ca.crt", -1, true))
	}
	node := account(v.scratch, v.node)
	v.check("podinit's ConfigMap made for the tests below", "ok", v.create("", v.scratch, configMap(podinit, true, "podinit"), really))
	v.check("podinit's ConfigMap deleted by the node", rule("configmap-name"), v.remove(node, "ConfigMap", v.scratch, podinit, -1, true))
	v.check("podinit's ConfigMap deleted by the collector", "ok", v.remove(account(v.scratch, v.collector), "ConfigMap", v.scratch, podinit, -1, true))
	v.check("podinit's ConfigMap changed by the node", rule("configmap-name"), v.do(node, http.MethodPatch, path("ConfigMap", v.scratch, podinit)+dryRun,
		object{"metadata": object{"annotations": object{"a": "b"}}}))
	v.check("ConfigMap in another namespace", rule("configmap-namespace"),
		v.create(account(v.namespace, v.node), v.scratch, configMap("slurm-k8s-podinit-0000000000000000", true, "podinit"), dryRun))
}

const docker = "kubernetes.io/dockerconfigjson"

// secret is one owned by a Pod; more: of its metadata.
func secret(name, owner, kind, key string, more object) object {
	metadata := object{"name": name, "ownerReferences": []object{{"apiVersion": "v1", "kind": "Pod", "name": owner, "uid": "1"}}}
	for k, value := range more {
		metadata[k] = value
	}
	return object{"apiVersion": "v1", "kind": "Secret", "type": kind, "immutable": true, "metadata": metadata, "stringData": object{key: `{"auths":{}}`}}
}

// secrets: one for a Pod, that the node can make and never read.
func (v *verifier) secrets() {
	const own, key = "slurm-job-1-pull-0123456789abcdef", ".dockerconfigjson"
	for _, where := range []string{v.namespace, v.scratch} {
		try := func(what, expected string, o object) {
			v.check(where+": "+what, expected, v.create(account(where, v.node), where, o, dryRun))
		}
		try("a Pod's pull secret", "ok", secret(own, "slurm-job-1", docker, key, nil))
		try("a step's pull secret, with labels", "ok", secret("slurm-job-1-step-0-1-pull-0123456789abcdef", "slurm-job-1-step-0-1", docker, key,
			object{"labels": object{"app": "slurm-job", "job-id": "1"}}))
		try("a pull secret under another Pod's name", rule("secret-owner"), secret(own, "slurm-job-2", docker, key, nil))
		try("a Secret of another name", rule("secret-owner"), secret("mine", "slurm-job-1", docker, key, nil))
		try("a Secret of another Pod", rule("secret-owner"), secret("database-0-pull-0123456789abcdef", "database-0", docker, key, nil))
		try("an account's token", rule("secret-content"), secret(own, "slurm-job-1", "kubernetes.io/service-account-token", "x",
			object{"annotations": object{"kubernetes.io/service-account.name": v.collector}}))
		try("a Secret of any kind", rule("secret-content"), secret(own, "slurm-job-1", "Opaque", key, nil))
		try("a Secret for another controller", rule("secret-content"), secret(own, "slurm-job-1", docker, key,
			object{"labels": object{"argocd.argoproj.io/secret-type": "cluster"}}))
	}
	v.check("pull secret in another namespace", rule("secret-create"), v.create(account(v.namespace, v.node), v.scratch, secret(own, "slurm-job-1", docker, key, nil), dryRun))
	v.check("a Secret deleted by the node", rule("secret-create")+"|not found", v.remove(account(v.scratch, v.node), "Secret", v.scratch, own, -1, true))
}
