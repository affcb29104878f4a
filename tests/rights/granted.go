// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// right is a verb on a resource: "pods", "pods/exec", "rolebindings.rbac.authorization.k8s.io".
// name: of this object alone, or empty.
type right struct{ account, verb, resource, name string }

func (r right) String() string {
	return strings.TrimSpace(fmt.Sprintf("%-20s %-7s %s %s", r.account, r.verb, r.resource, r.name))
}

// boundElsewhere are roles that deploy/ binds to nobody: the core does, in each tenant's namespace.
var boundElsewhere = map[string]string{
	"slurm-k8s-tenant-node":      "slurm-k8s-node",
	"slurm-k8s-tenant-collector": "slurm-k8s-collector",
}

// manifest is what is read of any object.
type manifest struct {
	Kind     string
	Metadata struct{ Name string }
	Rules    []rbacv1.PolicyRule
	RoleRef  rbacv1.RoleRef
	Subjects []rbacv1.Subject
}

// granted are the rights of each account by the files of the folders.
func granted(folders ...string) (map[right]bool, error) {
	roles, accounts := map[string][]rbacv1.PolicyRule{}, map[string][]string{}
	for role, account := range boundElsewhere {
		accounts["ClusterRole "+role] = []string{account}
	}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			for _, document := range bytes.Split(text, []byte("\n---\n")) {
				var object manifest
				if err := yaml.Unmarshal(document, &object); err != nil {
					return nil, fmt.Errorf("%s: %w", file, err)
				}
				switch object.Kind {
				case "Role", "ClusterRole":
					roles[object.Kind+" "+object.Metadata.Name] = object.Rules
				case "RoleBinding", "ClusterRoleBinding":
					role := object.RoleRef.Kind + " " + object.RoleRef.Name
					for _, subject := range object.Subjects {
						accounts[role] = append(accounts[role], subject.Name)
					}
				}
			}
		}
	}
	all := map[right]bool{}
	for role, rules := range roles {
		if len(accounts[role]) == 0 {
			return nil, fmt.Errorf("%s is bound to nobody", role)
		}
		for _, account := range accounts[role] {
			for _, rule := range rules {
				for _, r := range rightsOf(account, rule) {
					all[r] = true
				}
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no role in %s", strings.Join(folders, ", "))
	}
	return all, nil
}

// rightsOf takes a rule apart.
func rightsOf(account string, rule rbacv1.PolicyRule) []right {
	names := rule.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	var all []right
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			if group != "" {
				resource += "." + group
			}
			for _, verb := range rule.Verbs {
				for _, name := range names {
					all = append(all, right{account, verb, resource, name})
				}
			}
		}
	}
	return all
}
