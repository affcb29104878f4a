// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// proxy stands between the product and the API server for the time of a run: both kubeconfigs of root point to it.
// Everybody else, the audit too, asks the server itself.
type proxy struct {
	address string
	configs map[string][]byte // file: as it was
	server  *http.Server

	mu       sync.Mutex
	listener net.Listener
	conns    map[*proxied]bool
	stalled  chan struct{} // closed when a stall is over; nil: none
	delay    time.Duration
	answer   int // status instead of the server's
}

// proxied is a connection from the product.
type proxied struct {
	net.Conn
	p *proxy
}

func startProxy(lab *testcluster.Cluster) (*proxy, error) {
	pki := filepath.Join(lab.Dir, "etc/pki")
	// The API server's own certificate: the product cannot tell the two apart.
	certificate, err := tls.LoadX509KeyPair(pki+"/apiserver.crt", pki+"/apiserver.key")
	if err != nil {
		return nil, err
	}
	authority, err := os.ReadFile(pki + "/ca.crt")
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	real, err := url.Parse(lab.Vars["APISERVER"])
	if err != nil {
		return nil, err
	}
	p := &proxy{conns: map[*proxied]bool{}, configs: map[string][]byte{}}
	if err := p.listen("127.0.0.1:0"); err != nil {
		return nil, err
	}
	quiet := log.New(io.Discard, "", 0)
	forward := httputil.NewSingleHostReverseProxy(real)
	forward.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, MaxIdleConnsPerHost: 100}
	forward.FlushInterval = -1 // watches
	forward.ErrorLog = quiet
	// A server that is away is a connection that breaks, not an answer.
	forward.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	p.server = &http.Server{Handler: p.behave(forward), ErrorLog: quiet, TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}}}
	go p.serve()
	for _, name := range []string{"node", "collector"} {
		file := filepath.Join(lab.Dir, "etc", name+".kubeconfig")
		text, err := os.ReadFile(file)
		if err == nil && !strings.Contains(string(text), lab.Vars["APISERVER"]) {
			err = fmt.Errorf("%s does not name %s: an earlier run was broken off; run tests/cluster/install", file, lab.Vars["APISERVER"])
		}
		if err == nil {
			p.configs[file] = text
			err = replace(file, []byte(strings.ReplaceAll(string(text), lab.Vars["APISERVER"], "https://"+p.address)))
		}
		if err != nil {
			return nil, errors.Join(err, p.stop())
		}
	}
	return p, nil
}

// replace gives a file of root's other content at once.
func replace(file string, text []byte) error {
	if err := os.WriteFile(file+".faults", text, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".faults", file)
}

func (p *proxy) stop() error {
	p.server.Close()
	var all error
	for file, text := range p.configs {
		all = errors.Join(all, replace(file, text))
	}
	return all
}

func (p *proxy) listen(address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listener, p.address = listener, listener.Addr().String()
	return nil
}

func (p *proxy) serve() { p.server.ServeTLS(acceptor{p.listener, p}, "", "") }

// acceptor hands out connections that can be stalled and reset.
type acceptor struct {
	net.Listener
	p *proxy
}

func (a acceptor) Accept() (net.Conn, error) {
	conn, err := a.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &proxied{conn, a.p}
	a.p.mu.Lock()
	a.p.conns[c] = true
	a.p.mu.Unlock()
	return c, nil
}

func (c *proxied) wait() {
	c.p.mu.Lock()
	stalled := c.p.stalled
	c.p.mu.Unlock()
	if stalled != nil {
		<-stalled
	}
}

func (c *proxied) Read(to []byte) (int, error) {
	n, err := c.Conn.Read(to)
	c.wait()
	return n, err
}

func (c *proxied) Write(from []byte) (int, error) {
	c.wait()
	return c.Conn.Write(from)
}

func (c *proxied) Close() error {
	c.p.mu.Lock()
	delete(c.p.conns, c)
	c.p.mu.Unlock()
	return c.Conn.Close()
}

// reset ends every connection by RST.
func (p *proxy) reset() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Conn.(*net.TCPConn).SetLinger(0)
		c.Conn.Close()
	}
	return len(p.conns)
}

// behave is what the proxy does with a request.
func (p *proxy) behave(forward http.Handler) http.Handler {
	return http.HandlerFunc(func(to http.ResponseWriter, request *http.Request) {
		p.mu.Lock()
		delay, status := p.delay, p.answer
		p.mu.Unlock()
		select {
		case <-time.After(delay):
		case <-request.Context().Done():
			return
		}
		if status == 0 {
			forward.ServeHTTP(to, request)
			return
		}
		reason := map[int]string{403: "Forbidden", 409: "Conflict", 429: "TooManyRequests", 500: "InternalError", 503: "ServiceUnavailable"}[status]
		if status == 429 {
			to.Header().Set("Retry-After", "1")
		}
		to.Header().Set("Content-Type", "application/json")
		to.WriteHeader(status)
		fmt.Fprintf(to, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"injected by tests/faults","reason":%q,"code":%d}`, reason, status)
	})
}
