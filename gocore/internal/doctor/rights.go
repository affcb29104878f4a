// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"slices"
	"strings"
)

// Right is a verb on a resource ("pods", "pods/exec"), of one object where Name says so.
type Right struct {
	Verb, Resource, Name string
	Everywhere           bool // in no namespace
}

// Account is a credential and what it must be able to do: no more, and no less.
type Account struct {
	Name   string // "node"
	Rights []Right
	// MustNot are rights whose having would undo a promise of docs/security.md.
	MustNot []Right
}

// The accounts of deploy/; a test holds these to its roles.
var (
	Node = Account{"node", rights("create pods", "get pods", "watch pods", "delete pods", "get pods/exec", "create pods/exec",
		"get configmaps", "create configmaps", "create secrets", "get persistentvolumeclaims", "create persistentvolumeclaims", "list events"), rights("* *", "get secrets", "list secrets", "delete configmaps", "delete persistentvolumeclaims", "create serviceaccounts/token")}
	Collector = Account{"collector", append(rights("list pods", "delete pods", "create configmaps", "list configmaps", "delete configmaps",
		"list persistentvolumeclaims", "patch persistentvolumeclaims", "delete persistentvolumeclaims",
		"get configmaps slurm-k8s-nodes", "update configmaps slurm-k8s-nodes"), Right{Verb: "list", Resource: "nodes", Everywhere: true}),
		rights("* *", "get secrets", "list secrets", "create pods", "create pods/exec")}
	// CollectorOfTenants is the collector where namespaces go by a pattern.
	CollectorOfTenants = Account{"collector", append(Collector.Rights, everywhere("list pods", "list persistentvolumeclaims", "list namespaces")...), Collector.MustNot}
	Tenants            = Account{"tenants", everywhere("create namespaces", "get namespaces", "update namespaces", "create resourcequotas", "update resourcequotas",
		"create limitranges", "update limitranges", "create rolebindings.rbac.authorization.k8s.io",
		"bind clusterroles.rbac.authorization.k8s.io slurm-k8s-tenant-node", "bind clusterroles.rbac.authorization.k8s.io slurm-k8s-tenant-collector"),
		everywhere("* *", "delete namespaces", "list namespaces", "get secrets", "list secrets", "create pods", "create pods/exec", "bind clusterroles.rbac.authorization.k8s.io cluster-admin")}
	Reader = Account{"reader", rights("get configmaps slurm-k8s-nodes"), rights("* *", "get secrets", "list pods", "create pods", "list configmaps")}
)

// rights reads "VERB RESOURCE [NAME]".
func rights(texts ...string) []Right {
	var all []Right
	for _, text := range texts {
		words := append(strings.Fields(text), "")
		all = append(all, Right{Verb: words[0], Resource: words[1], Name: words[2]})
	}
	return all
}

// everywhere are rights in all namespaces, or of what is in none.
func everywhere(texts ...string) []Right {
	all := rights(texts...)
	for i := range all {
		all[i].Everywhere = true
	}
	return all
}

func (r Right) String() string { return strings.TrimSpace(r.Verb + " " + r.Resource + " " + r.Name) }

// from is the command that gives the right.
func (r Right) from() string {
	if r.Everywhere && r.Resource != "nodes" {
		return "kubectl apply -k deploy/tenants"
	}
	return "kubectl apply -k deploy"
}

// Asker asks the API server as one account.
type Asker interface {
	// ServerVersion also shows that the server answers.
	ServerVersion(ctx context.Context) (string, error)
	// MayI says whether the account has a right; an empty namespace: in all, or none.
	MayI(ctx context.Context, namespace, verb, resource, name string) (bool, error)
}

// Rights checks an account: that the server answers it, that it may do what it must, and nothing that it must not.
func Rights(account Account, namespace string, open func() (Asker, error)) Check {
	return func(ctx context.Context) []Finding {
		about := account.Name
		asker, err := open()
		if err != nil {
			return []Finding{fault(about, "make its kubeconfig, owner and mode as README.md has them (Credentials)", "%s", err)}
		}
		version, err := asker.ServerVersion(ctx)
		if err != nil {
			return []Finding{fault(about, "the server's address and the token in its kubeconfig; the network from here", "the API server does not answer: %s", err)}
		}
		var found []Finding
		var missing, excess, from []string
		ask := func(r Right, want bool, wrong *[]string) {
			where := namespace
			if r.Everywhere {
				where = ""
			}
			if may, err := asker.MayI(ctx, where, r.Verb, r.Resource, r.Name); err != nil {
				found = append(found, skipped(about, "", "whether it may %s cannot be asked: %s", r, err))
			} else if may != want {
				*wrong = append(*wrong, r.String())
				if want && !slices.Contains(from, r.from()) {
					from = append(from, r.from())
				}
			}
		}
		for _, r := range account.Rights {
			ask(r, true, &missing)
		}
		for _, r := range account.MustNot {
			ask(r, false, &excess)
		}
		if len(missing) > 0 {
			found = append(found, fault(about, strings.Join(from, "; "), "it may not in namespace %s: %s", namespace, strings.Join(missing, ", ")))
		}
		if len(excess) > 0 {
			found = append(found, fault(about, "give it the token of the ServiceAccount in deploy/, and bind nothing else to that", "it may more than it must, in namespace %s: %s", namespace, strings.Join(excess, ", ")))
		}
		if len(found) == 0 {
			found = append(found, good(about, "Kubernetes %s answers it, and it may do what it must and no more, in namespace %s", version, namespace))
		}
		return found
	}
}
