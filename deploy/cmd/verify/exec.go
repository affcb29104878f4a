// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/client-go/tools/remotecommand"
)

// A GET that upgrades nothing: admission has spoken when the server says that there is no such Pod, that it runs
// nowhere, or that an upgrade is missing.
const admitted = `not found|does not have a host|Upgrade request required`

const (
	pump    = "command=/.slurm-k8s/bin/podinit&command=pump&command=--session=0123456789abcdef"
	limits  = "&command=--orphan-timeout=1800&command=--start-timeout=600&command=--linger=60"
	streams = "&container=job&stdin=true&stdout=true"
)

// exec: the pump and joins in a job's Pod, and nothing else.
func (v *verifier) exec(pod bent) {
	bare := strings.Replace(pump, "command=pump", "command=join", 1)
	join := bare + limits
	for _, where := range []string{v.namespace, v.scratch} {
		user := account(where, v.node)
		try := func(what, expected, pod, query string) {
			v.check(where+": exec "+what, expected, v.do(user, http.MethodGet, path("Pod", where, pod, "exec")+"?"+query, nil))
		}
		try("of the pump", admitted, "slurm-job-1", pump+streams)
		try("of the pump, with stderr", admitted, "slurm-job-1", pump+streams+"&stderr=true")
		try("of the pump in a step's Pod", admitted, "slurm-job-1-step-4294967279-12-0", pump+streams)
		try("of a join", admitted, "slurm-job-1", join+streams)
		try("of a join with another option", rule("exec-command"), "slurm-job-1", join+"&command=--log=/x"+streams)
		try("of a join without its limits", rule("exec-command"), "slurm-job-1", bare+streams)
		try("in a Pod that is nearly a step's", rule("exec-pod"), "slurm-job-1-step-0", pump+streams)
		try("of sh", rule("exec-command"), "slurm-job-1", "command=sh"+streams)
		try("of podinit init", rule("exec-command"), "slurm-job-1", strings.Replace(pump, "pump", "init", 1)+streams)
		try("of the pump and more", rule("exec-command"), "slurm-job-1", pump+"&command=x"+streams)
		try("with a terminal", rule("exec-streams"), "slurm-job-1", pump+streams+"&tty=true")
		try("without stdin", rule("exec-streams"), "slurm-job-1", pump+"&container=job&stdout=true")
		try("in no named container", rule("exec-streams"), "slurm-job-1", pump+"&stdin=true&stdout=true")
		try("in a Pod that is not ours", rule("exec-pod"), "database-0", pump+streams)
	}
	get := func(where, who, rest string) answer {
		return v.do(account(where, who), http.MethodGet, path("Pod", where, "slurm-job-1", rest), nil)
	}
	v.check("attach by RBAC", `cannot get resource "pods/attach"`, get(v.namespace, v.node, "attach?"+streams[1:]))
	v.check("attach by policy", rule("exec-only"), get(v.scratch, v.node, "attach?"+streams[1:]))
	v.check("port-forward by policy", rule("exec-only"), get(v.scratch, v.node, "portforward?ports=80"))
	v.check("proxy by policy", rule("exec-only"), get(v.scratch, v.node, "proxy"))
	v.check("exec by the collector", `cannot get resource "pods/exec"`, get(v.namespace, v.collector, "exec?"+pump+streams))

	// With a Pod that is there, and real streams, of both protocols.
	node := account(v.scratch, v.node)
	v.check("create it", "ok", v.create(node, v.scratch, pod.must(`[]`), really))
	for _, protocol := range []string{http.MethodGet, http.MethodPost} { // websocket, SPDY
		v.check("exec of sh in it, by "+protocol, rule("exec-command"), v.stream(protocol, node, "command=sh"+streams))
		v.check("exec of the pump in it, by "+protocol, admitted, v.stream(protocol, node, pump+streams))
	}
}

// stream is an exec as kubectl's, in slurm-job-1 of the second namespace.
func (v *verifier) stream(method, user, query string) answer {
	target, err := url.Parse(v.config.Host + path("Pod", v.scratch, "slurm-job-1", "exec") + "?" + query)
	if err != nil {
		return answer{text: err.Error()}
	}
	var executor remotecommand.Executor
	if method == http.MethodGet {
		executor, err = remotecommand.NewWebSocketExecutor(v.as(user), method, target.String())
	} else {
		executor, err = remotecommand.NewSPDYExecutor(v.as(user), method, target)
	}
	if err != nil {
		return answer{text: err.Error()}
	}
	ctx, cancel := context.WithTimeout(v.ctx, 20*time.Second)
	defer cancel()
	if err := executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: strings.NewReader(""), Stdout: io.Discard}); err != nil {
		return answer{text: err.Error()}
	}
	return answer{code: http.StatusOK}
}
