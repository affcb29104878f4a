// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
)

// Bounds of one connection; the caller's context bounds the whole.
const (
	dialTimeout   = 2 * time.Second
	answerTimeout = 2500 * time.Millisecond
)

// errPlain is the refusal to speak to a registry without TLS.
var errPlain = errors.New("plain HTTP is not allowed for it (the site's submission.insecure_registries)")

// transport is an http.Transport of one question's own. It goes without TLS only where
// the site says so, also after a redirect: credentials may travel with the request.
type transport struct {
	*http.Transport
	insecure hostSet
}

func newTransport(insecure hostSet) *transport {
	return &transport{insecure: insecure, Transport: &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    dialTimeout,
		ResponseHeaderTimeout:  answerTimeout,
		MaxResponseHeaderBytes: 64 << 10,
		MaxIdleConns:           4,
	}}
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Scheme != "https" && !t.insecure.has(request.URL.Host) && !isLoopback(request.URL.Hostname()) {
		return nil, errPlain
	}
	return t.Transport.RoundTrip(request)
}

// isLoopback says whether a host is this machine by its very name.
func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// hostSet is a set of HOST or HOST:PORT.
type hostSet map[string]bool

func newHostSet(hosts []string) hostSet {
	set := make(hostSet, len(hosts))
	for _, host := range hosts {
		set[strings.ToLower(strings.TrimSpace(host))] = true
	}
	return set
}

func (s hostSet) has(host string) bool { return s[strings.ToLower(host)] }

// userKeychain is the docker or podman configuration of the user who runs this process. It
// may run a credential helper, which knows no context: it is left behind when ctx ends
// (the process is sbatch, which ends soon). A configuration that cannot be read counts as
// none, since it is the cluster and not the user that pulls in the end.
type userKeychain struct{}

var _ authn.ContextKeychain = userKeychain{}

// Resolve implements authn.Keychain.
func (k userKeychain) Resolve(target authn.Resource) (authn.Authenticator, error) {
	return k.ResolveContext(context.Background(), target)
}

// ResolveContext implements authn.ContextKeychain.
func (userKeychain) ResolveContext(ctx context.Context, target authn.Resource) (authn.Authenticator, error) {
	type answer struct {
		auth authn.Authenticator
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if r := recover(); r != nil {
				a = answer{err: fmt.Errorf("panic: %v", r)}
			}
			answers <- a
		}()
		a.auth, a.err = authn.DefaultKeychain.Resolve(target)
	}()
	select {
	case a := <-answers:
		if a.err != nil || a.auth == nil {
			return authn.Anonymous, nil
		}
		return a.auth, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
