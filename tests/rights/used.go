// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// event is a line of Kubernetes' audit log, as far as it is read.
type event struct {
	Verb             string
	User             struct{ Username string }
	ImpersonatedUser *struct{ Username string }
	ObjectRef        struct{ APIGroup, Resource, Subresource, Name string }
	ResponseStatus   struct{ Code int }
	Annotations      map[string]string
}

// uses are the rights that a request shows in use; none of a request that was refused.
func (e event) uses(namespace string) []right {
	account, ours := strings.CutPrefix(e.User.Username, "system:serviceaccount:"+namespace+":")
	if !ours || e.ImpersonatedUser != nil || e.Annotations["authorization.k8s.io/decision"] != "allow" || e.ResponseStatus.Code == 403 {
		return nil
	}
	resource := e.ObjectRef.Resource
	if e.ObjectRef.Subresource != "" {
		resource += "/" + e.ObjectRef.Subresource
	}
	if e.ObjectRef.APIGroup != "" {
		resource += "." + e.ObjectRef.APIGroup
	}
	all := []right{{account, e.Verb, resource, ""}}
	if e.ObjectRef.Name != "" {
		all = append(all, right{account, e.Verb, resource, e.ObjectRef.Name})
	}
	switch {
	case e.Verb == "get" && resource == "pods/exec":
		// A websocket is a get, for which the server asks for create as well.
		all = append(all, right{account, "create", resource, ""})
	case e.Verb == "create" && resource == "rolebindings.rbac.authorization.k8s.io":
		// The server asks whether the role may be bound; the binding has the account's name.
		for role, bound := range boundElsewhere {
			if e.ObjectRef.Name == bound {
				all = append(all, right{account, "bind", "clusterroles.rbac.authorization.k8s.io", role})
			}
		}
	}
	return all
}

// used reads the logs.
func used(files []string, namespace string) (map[right]bool, error) {
	if len(files) == 0 {
		return nil, errors.New("there is no audit log (make test-e2e makes one)")
	}
	all := map[right]bool{}
	for _, path := range files {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		err = read(file, namespace, all)
		file.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return all, nil
}

// read adds what the lines of a log show.
func read(log io.Reader, namespace string, all map[right]bool) error {
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue // the last line of a server that was killed
		}
		for _, r := range e.uses(namespace) {
			all[r] = true
		}
	}
	return lines.Err()
}
