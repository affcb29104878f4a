// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// server is the API server. Nothing is decoded or defaulted on this side: what is sent is what stands in the tables.
type server struct {
	ctx     context.Context
	config  *rest.Config
	clients map[string]*http.Client // by user; "": the administrator
}

// answer is a response; text is its body, of a Status its message and causes.
type answer struct {
	code int
	text string
	body []byte
}

func (a answer) ok() bool { return a.code >= 200 && a.code < 300 }

func open(ctx context.Context) (server, error) {
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err != nil {
		return server{}, err
	}
	return server{ctx: ctx, config: config, clients: map[string]*http.Client{}}, nil
}

// account is a service account as a user's name.
func account(namespace, name string) string { return "system:serviceaccount:" + namespace + ":" + name }

// as is the configuration of a user; "": the administrator's.
func (s server) as(user string) *rest.Config {
	config := rest.CopyConfig(s.config)
	config.Impersonate.UserName = user
	return config
}

// do sends a request; body: nil, or what becomes JSON.
func (s server) do(user, method, path string, body any) answer {
	client := s.clients[user]
	if client == nil {
		var err error
		if client, err = rest.HTTPClientFor(s.as(user)); err != nil {
			return answer{text: err.Error()}
		}
		s.clients[user] = client
	}
	ctx, cancel := context.WithTimeout(s.ctx, 20*time.Second)
	defer cancel()
	text, err := json.Marshal(body)
	if err != nil {
		return answer{text: err.Error()}
	}
	if body == nil {
		text = nil
	}
	request, err := http.NewRequestWithContext(ctx, method, s.config.Host+path, bytes.NewReader(text))
	if err != nil {
		return answer{text: err.Error()}
	}
	request.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	response, err := client.Do(request)
	if err != nil {
		return answer{text: err.Error()}
	}
	defer response.Body.Close()
	got := answer{code: response.StatusCode}
	if got.body, err = io.ReadAll(response.Body); err != nil {
		return answer{text: err.Error()}
	}
	got.text = string(got.body)
	var status metav1.Status
	if !got.ok() && json.Unmarshal(got.body, &status) == nil && status.Message != "" {
		got.text = status.Message
		if status.Details != nil {
			for _, cause := range status.Details.Causes {
				got.text += " " + cause.Message
			}
		}
	}
	return got
}

// into decodes the answer.
func (a answer) into(value any) error {
	if !a.ok() {
		return fmt.Errorf("(%d) %s", a.code, a.text)
	}
	return json.Unmarshal(a.body, value)
}

func (a answer) err() error {
	if a.ok() {
		return nil
	}
	return errors.New(a.text)
}

const (
	dryRun = "?dryRun=All&fieldValidation=Strict"
	really = "?fieldValidation=Strict"
)

// object is JSON or YAML, decoded.
type object = map[string]any

// resources are the paths of what is made here; of one in a namespace %s is that.
var resources = map[string]string{
	"Namespace":             "/api/v1/namespaces",
	"ServiceAccount":        "/api/v1/namespaces/%s/serviceaccounts",
	"Pod":                   "/api/v1/namespaces/%s/pods",
	"ConfigMap":             "/api/v1/namespaces/%s/configmaps",
	"PersistentVolumeClaim": "/api/v1/namespaces/%s/persistentvolumeclaims",
	"Secret":                "/api/v1/namespaces/%s/secrets",
	"ResourceQuota":         "/api/v1/namespaces/%s/resourcequotas",
	"LimitRange":            "/api/v1/namespaces/%s/limitranges",
	"Role":                  "/apis/rbac.authorization.k8s.io/v1/namespaces/%s/roles",
	"RoleBinding":           "/apis/rbac.authorization.k8s.io/v1/namespaces/%s/rolebindings",
	"RuntimeClass":          "/apis/node.k8s.io/v1/runtimeclasses",
	"PriorityClass":         "/apis/scheduling.k8s.io/v1/priorityclasses",
}

// path of a kind of objects, or of the one named.
func path(kind, namespace string, name ...string) string {
	p := resources[kind]
	if strings.Contains(p, "%s") {
		p = fmt.Sprintf(p, namespace)
	}
	for _, n := range name {
		if n != "" {
			p += "/" + n
		}
	}
	return p
}

// create makes the object, or with dryRun sees whether it could be made.
func (s server) create(user, namespace string, o object, how string) answer {
	kind, _ := o["kind"].(string)
	return s.do(user, http.MethodPost, path(kind, namespace)+how, o)
}

// remove deletes an object, or sees whether it could be deleted; grace below 0: as it says itself.
func (s server) remove(user, kind, namespace, name string, grace int, dry bool) answer {
	options := object{"apiVersion": "v1", "kind": "DeleteOptions"}
	if grace >= 0 {
		options["gracePeriodSeconds"] = grace
	}
	if dry {
		options["dryRun"] = []string{"All"}
	}
	return s.do(user, http.MethodDelete, path(kind, namespace, name), options)
}
