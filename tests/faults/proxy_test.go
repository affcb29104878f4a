// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// apiBehindProxy is a server in the place of the API's, and a proxy before it.
func apiBehindProxy(t *testing.T, handler http.HandlerFunc) (*world, *http.Client) {
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	dir := t.TempDir()
	pki := filepath.Join(dir, "etc/pki")
	if err := os.MkdirAll(pki, 0o700); err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	for name, text := range map[string][]byte{
		"pki/ca.crt": certificate, "pki/apiserver.crt": certificate, "pki/apiserver.key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
		"node.kubeconfig":      []byte(fmt.Sprintf("server: %q\nuser: {token: abc.def}\n", server.URL)),
		"collector.kubeconfig": []byte(fmt.Sprintf("server: %q\nuser: {token: ghi}\n", server.URL)),
	} {
		if err := os.WriteFile(filepath.Join(dir, "etc", name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{lab: &testcluster.Cluster{Dir: dir, Vars: map[string]string{"APISERVER": server.URL}}}
	if w.proxy, err = startProxy(w.lab); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.proxy.stop() })
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return w, &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
}

func kindOf(t *testing.T, name string) *strike {
	for _, k := range faultKinds {
		if k.name == name {
			return &strike{kind: k, pick: 1}
		}
	}
	t.Fatalf("no fault %s", name)
	return nil
}

func TestProxy(t *testing.T) {
	w, client := apiBehindProxy(t, func(to http.ResponseWriter, _ *http.Request) { fmt.Fprint(to, "well") })
	ask := func() (int, error) {
		answer, err := client.Get("https://" + w.proxy.address + "/readyz")
		if err != nil {
			return 0, err
		}
		answer.Body.Close()
		return answer.StatusCode, nil
	}
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(w.lab.Dir, "etc", name+".kubeconfig"))
		return string(text)
	}
	if !strings.Contains(read("node"), w.proxy.address) || !strings.Contains(read("collector"), w.proxy.address) {
		t.Errorf("the kubeconfigs do not name the proxy: %s", read("node"))
	}
	for name, want := range map[string]int{"api-403": 403, "api-409": 409, "api-429": 429, "api-500": 500, "api-503": 503, "api-delay": 200, "api-refuse": 0, "api-stall": 0, "api-reset": 200} {
		if status, err := ask(); status != 200 {
			t.Fatalf("before %s: %d, %v", name, status, err)
		}
		s := kindOf(t, name)
		client.Timeout = time.Second
		undo, err := s.kind.inject(w, s, &hit{strike: s})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if status, _ := ask(); status != want {
			t.Errorf("%s: status %d, want %d", name, status, want)
		}
		if undo != nil {
			if err := undo(); err != nil {
				t.Errorf("%s is not undone: %v", name, err)
			}
		}
		client.Timeout = 5 * time.Second
	}
	w.proxy.stop()
	if strings.Contains(read("node"), w.proxy.address) || !strings.Contains(read("node"), w.lab.Vars["APISERVER"]) || !strings.Contains(read("node"), "abc.def") {
		t.Errorf("the kubeconfig is not put back: %s", read("node"))
	}
}

// An exec is an upgraded connection, which a reset must end too.
func TestProxyUpgrades(t *testing.T) {
	w, _ := apiBehindProxy(t, func(to http.ResponseWriter, request *http.Request) {
		to.Header().Set("Upgrade", "echo")
		to.Header().Set("Connection", "Upgrade")
		to.WriteHeader(http.StatusSwitchingProtocols)
		conn, both, err := http.NewResponseController(to).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		line, _ := both.ReadString('\n')
		both.WriteString(line)
		both.Flush()
		both.ReadString('\n')
	})
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(must(os.ReadFile(filepath.Join(w.lab.Dir, "etc/pki/ca.crt"))))
	conn := must(tls.Dial("tcp", w.proxy.address, &tls.Config{RootCAs: pool}))
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	fmt.Fprint(conn, "GET /exec HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	text := make([]byte, 4096)
	got := ""
	for !strings.Contains(got, "hello\n") {
		n, err := conn.Read(text)
		if err != nil {
			t.Fatalf("%v after %q", err, got)
		}
		if got == "" {
			fmt.Fprint(conn, "hello\n") // once it is upgraded
		}
		got += string(text[:n])
	}
	if n := w.proxy.reset(); n != 1 {
		t.Errorf("%d connections were reset", n)
	}
	if _, err := conn.Read(text); err == nil || os.IsTimeout(err) {
		t.Errorf("the connection was not reset: %v", err)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
