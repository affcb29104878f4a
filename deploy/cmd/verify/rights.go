// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"slices"
	"strings"

	authorization "k8s.io/api/authorization/v1"
)

// may asks whether RBAC lets a user do it; resource may be RESOURCE/SUBRESOURCE, and "*" with every group.
func (v *verifier) may(user, namespace, verb, resource, group string) bool {
	resource, sub, _ := strings.Cut(resource, "/")
	if resource == "*" {
		group = "*"
	} else if resource == "rolebindings" {
		group = "rbac.authorization.k8s.io"
	}
	review := authorization.SelfSubjectAccessReview{Spec: authorization.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorization.ResourceAttributes{Namespace: namespace, Verb: verb, Group: group, Resource: resource, Subresource: sub},
	}}
	review.APIVersion, review.Kind = "authorization.k8s.io/v1", "SelfSubjectAccessReview"
	got := v.do(user, http.MethodPost, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review)
	return got.into(&review) == nil && review.Status.Allowed
}

// allRights are what RBAC gives an account in the namespace, a line "RESOURCE [NAME]: VERBS" for each; what every user
// may ask of authentication and authorization is left out.
func (v *verifier) allRights(user string) []string {
	review := authorization.SelfSubjectRulesReview{Spec: authorization.SelfSubjectRulesReviewSpec{Namespace: v.namespace}}
	review.APIVersion, review.Kind = "authorization.k8s.io/v1", "SelfSubjectRulesReview"
	if err := v.do(user, http.MethodPost, "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", review).into(&review); err != nil {
		return []string{err.Error()}
	}
	verbs := map[string][]string{}
	for _, r := range review.Status.ResourceRules {
		for _, group := range r.APIGroups {
			switch group {
			case "authentication.k8s.io", "authorization.k8s.io", "certificates.k8s.io":
				continue
			}
			for _, resource := range r.Resources {
				if group != "" {
					resource += "." + group
				}
				key := strings.Join(append([]string{resource}, r.ResourceNames...), " ")
				verbs[key] = append(verbs[key], r.Verbs...)
			}
		}
	}
	var lines []string
	for key, of := range verbs {
		slices.Sort(of)
		lines = append(lines, key+": "+strings.Join(slices.Compact(of), " "))
	}
	slices.Sort(lines)
	return lines
}

// rights: exactly those of the roles.
func (v *verifier) rights() {
	node, collector, reader := account(v.namespace, v.node), account(v.namespace, v.collector), account(v.namespace, v.reader)
	v.same("rights of "+v.node, []string{"configmaps: create get", "events: list", "persistentvolumeclaims: create get", "pods/exec: create get", "pods: create delete get watch", "secrets: create"}, v.allRights(node))
	collectors := []string{"configmaps slurm-k8s-nodes: get update", "configmaps: create delete list", "nodes: list", "persistentvolumeclaims: delete list patch", "pods: delete list"}
	if v.tenantsAccount != "" {
		collectors = slices.Insert(collectors, 2, "namespaces: list")
		v.same("rights of "+v.tenantsAccount, []string{
			"clusterroles.rbac.authorization.k8s.io slurm-k8s-tenant-node slurm-k8s-tenant-collector: bind", "limitranges: create update", "namespaces: create get update",
			"resourcequotas: create update", "rolebindings.rbac.authorization.k8s.io: create",
		}, v.allRights(account(v.namespace, v.tenantsAccount)))
	}
	v.same("rights of "+v.collector, collectors, v.allRights(collector))
	v.same("rights of "+v.reader, []string{"configmaps slurm-k8s-nodes: get"}, v.allRights(reader))
	// As a step on several Slurm nodes does: the server sends first what is there, so that no list is needed.
	v.check(v.node+" watches Pods by their labels", "ok", v.do(node, http.MethodGet, path("Pod", v.namespace)+
		"?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=job-id%3D1&timeoutSeconds=1", nil))
	for _, what := range []string{"list pods", "update pods", "patch pods", "patch pods/ephemeralcontainers", "get pods/log", "get pods/attach",
		"create pods/portforward", "get secrets", "list secrets", "delete secrets", "list persistentvolumeclaims", "delete persistentvolumeclaims", "delete configmaps", "create serviceaccounts/token", "create rolebindings"} {
		v.mayNot(v.node+": "+what, node, v.namespace, what)
	}
	for _, what := range []string{"get pods", "create pods", "get pods/exec", "get configmaps", "get secrets"} {
		v.mayNot(v.node+" in another namespace: "+what, node, "default", what)
	}
	for _, what := range []string{"get configmaps", "list configmaps", "get pods", "get secrets"} {
		v.mayNot(v.reader+": "+what, reader, v.namespace, what)
	}
}

// mayNot counts a right that must not be there: "VERB RESOURCE".
func (v *verifier) mayNot(what, user, namespace, right string) {
	verb, resource, _ := strings.Cut(right, " ")
	got := answer{text: "no"}
	if v.may(user, namespace, verb, resource, "") {
		got = answer{code: http.StatusOK, text: "yes"}
	}
	v.check(what, "^no$", got)
}
