// SPDX-License-Identifier: Apache-2.0

package main

import "net/http"

// claim is a volume claim as a job keeps it; more: of its metadata.
func claim(name, class, size, mode string, more object) object {
	metadata := object{"name": name, "labels": object{"app": "slurm-job", "job-id": "1", "user": "alice", "slurm-k8s/cluster": "lab"}}
	for k, value := range more {
		metadata[k] = value
	}
	return object{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": object{
		"accessModes": []string{mode}, "storageClassName": class, "resources": object{"requests": object{"storage": size}},
	}}
}

// claims: those that jobs keep, which the node can make and the collector remove.
func (v *verifier) claims() {
	const own, once = "slurm-claim-1001-1", "ReadWriteOnce"
	node, collector := account(v.scratch, v.node), account(v.scratch, v.collector)
	try := func(what, expected, who string, o object) {
		v.check(what, expected, v.create(who, v.scratch, o, dryRun))
	}
	try("a claim that a job keeps", "ok", node, claim(own, "fast", "100Gi", once, nil))
	try("a claim of a job on several nodes", "ok", node, claim(own, "fast", "1Gi", "ReadWriteMany", nil))
	try("a claim that is too large", rule("claim-kept"), node, claim(own, "fast", "101Gi", once, nil))
	try("a claim of another class", rule("claim-kept"), node, claim(own, "gold", "1Gi", once, nil))
	try("a claim of another name", rule("claim-name"), node, claim("mine", "fast", "1Gi", once, nil))
	try("a claim of root's", rule("claim-name"), node, claim("slurm-claim-0-1", "fast", "1Gi", once, nil))
	try("a claim of another job's name", rule("claim-labels"), node, claim("slurm-claim-1001-2", "fast", "1Gi", once, nil))
	try("a claim with annotations", rule("claim-labels"), node, claim(own, "fast", "1Gi", once, object{"annotations": object{"a": "b"}}))
	try("a claim that nothing can delete", rule("claim-labels"), node, claim(own, "fast", "1Gi", once, object{"finalizers": []string{"example.com/x"}}))
	copied := claim(own, "fast", "1Gi", once, nil)
	copied["spec"].(object)["dataSource"] = object{"kind": "PersistentVolumeClaim", "name": "other"}
	try("a claim that copies another", rule("claim-kept"), node, copied)
	try("a claim by the collector", rule("claim-verb|names"), collector, claim(own, "fast", "1Gi", once, nil))
	try("someone's claim under our name", rule("names"), account(v.scratch, "someone"), claim(own, "fast", "1Gi", once, nil))
	v.check("claim in another namespace", rule("claim-verb"), v.create(account(v.namespace, v.node), v.scratch, claim(own, "fast", "1Gi", once, nil), dryRun))
	v.check(v.namespace+": a claim without the annotation's word", rule("claim-kept"),
		v.create(account(v.namespace, v.node), v.namespace, claim(own, "never", "1Gi", once, nil), dryRun))

	for _, name := range []string{own, "database"} {
		v.check("claim "+name+" made for the tests below", "ok", v.create("", v.scratch, claim(name, "never", "1Gi", once, nil), really))
	}
	change := func(what, expected, who, name string, patch object) {
		v.check(what, expected, v.do(who, http.MethodPatch, path("PersistentVolumeClaim", v.scratch, name)+dryRun, patch))
	}
	until := object{"metadata": object{"annotations": object{"slurm-k8s/keep-until": "2026-01-01T00:00:00Z"}}}
	change("until when a claim is kept", "ok", collector, own, until)
	change("until when another claim is kept", rule("claim-name"), collector, "database", until)
	change("another annotation of a claim", rule("claim-update"), collector, own, object{"metadata": object{"annotations": object{"a": "b"}}})
	change("the labels of a claim", rule("claim-update"), collector, own, object{"metadata": object{"labels": object{"user": "bob"}}})
	change("the finalizers of a claim", rule("claim-update"), collector, own, object{"metadata": object{"finalizers": []string{"example.com/x"}}})
	change("the size of a claim", rule("claim-update")+"|immutable", collector, own, object{"spec": object{"resources": object{"requests": object{"storage": "2Gi"}}}})
	change("a claim changed by the node", rule("claim-verb"), node, own, until)
	v.check("a claim deleted by the node", rule("claim-verb"), v.remove(node, "PersistentVolumeClaim", v.scratch, own, -1, true))
	v.check("another claim deleted by the collector", rule("claim-name"), v.remove(collector, "PersistentVolumeClaim", v.scratch, "database", -1, true))
	v.check("a claim deleted by the collector", "ok", v.remove(collector, "PersistentVolumeClaim", v.scratch, own, -1, true))
}
