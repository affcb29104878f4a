// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"strings"
)

// Who refuses: a policy, the Pod Security profile, or the API server itself, whose own word it is for a privileged
// container where it is not told --allow-privileged.
const byServer = `|privileged: Forbidden`

// pods: what the node's account can create.
func (v *verifier) pods(t *tables) {
	inNamespace := account(v.namespace, v.node)
	inScratch := account(v.scratch, v.node)
	both := func(what string, pod object) {
		v.check(v.namespace+": "+what, "ok", v.create(inNamespace, v.namespace, pod, dryRun))
		v.check("second namespace: "+what, "ok", v.create(inScratch, v.scratch, pod, dryRun))
	}
	plain := t.pod.must(`[]`)
	both("Pod as the core makes it", plain)
	for _, p := range t.accepted {
		both("Pod, "+p.what, p.pod)
	}
	for _, p := range t.refused {
		v.check("Pod, "+p.what, rule(p.rule)+byServer, v.create(inScratch, v.scratch, p.pod, dryRun))
		v.check(v.namespace+": Pod, "+p.what, `slurm-k8s\(|violates PodSecurity`+byServer, v.create(inNamespace, v.namespace, p.pod, dryRun))
	}
	v.check("Pod in another namespace, by RBAC", `cannot create resource "pods"`, v.create(inNamespace, "default", plain, dryRun))
	v.check("Pod in another namespace, by policy", rule("pod-namespace"), v.create(inNamespace, v.scratch, plain, dryRun))
	root := t.pod.must(`[{"op":"replace","path":"/spec/securityContext/runAsUser","value":0}]`)
	v.check("Pod as root in "+v.namespace+", for an administrator too", "violates PodSecurity", v.create("", v.namespace, root, dryRun))
	for _, p := range t.acceptedByWord {
		v.check("Pod, "+p.what, "ok", v.create(inScratch, v.scratch, p.pod, dryRun))
	}
	for _, p := range t.given {
		// Where the profile stands too, but for what a site must allow.
		got := v.create(inNamespace, v.namespace, p.pod, dryRun)
		if strings.Contains(got.text, "annotation slurm-k8s/allow") {
			got = v.create(inScratch, v.scratch, p.pod, dryRun)
		}
		v.check(p.what, "ok", got)
	}
	for _, p := range t.givenWithAnnotation {
		v.check(p.what, "ok", v.create(inScratch, v.scratch, p.pod, dryRun))
	}
}

// names: what carries our names and labels is ours.
func (v *verifier) names(pod bent) {
	someone := account(v.scratch, "someone")
	try := func(what, expected, patch string) {
		v.check(what, expected, v.create(someone, v.scratch, pod.must(patch), dryRun))
	}
	try("someone's Pod under our name", rule("names"), `[{"op":"remove","path":"/metadata/labels"}]`)
	try("someone's Pod with our label", rule("names"), `[{"op":"replace","path":"/metadata/name","value":"mine"}]`)
	try("someone's Pod of another name", "ok", `[{"op":"replace","path":"/metadata/name","value":"mine"},{"op":"remove","path":"/metadata/labels"}]`)
	v.check("someone's Pod of another name, made", "ok", v.create(someone, v.scratch, pod.must(`[{"op":"replace","path":"/metadata/name","value":"mine"},{"op":"remove","path":"/metadata/labels"}]`), really))
	label := func(key, value string) answer {
		return v.do(someone, http.MethodPatch, path("Pod", v.scratch, "mine")+dryRun, object{"metadata": object{"labels": object{key: value}}})
	}
	v.check("someone's Pod that is given our label", rule("names"), label("app", "slurm-job"))
	v.check("someone's Pod that is given another label", "ok", label("app", "mine"))
	v.check("someone's ConfigMap under podinit's name", rule("names"), v.create(someone, v.scratch, configMap("slurm-k8s-podinit-0000000000000000", true, "podinit"), dryRun))
	v.check("an administrator's Pod under our name", "ok", v.create("", v.namespace, pod.must(`[]`), dryRun))
	var namespace struct {
		Metadata struct{ Labels map[string]string }
	}
	if err := v.do("", "GET", path("Namespace", "", v.namespace), nil).into(&namespace); err != nil {
		v.check(v.namespace, "ok", answer{text: err.Error()})
		return
	}
	v.same(v.namespace+" has the label that guards the names", []string{"true"}, []string{namespace.Metadata.Labels["slurm-k8s/jobs"]})
}
