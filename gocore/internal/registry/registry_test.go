// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	fake "github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// No credentials of whoever runs the tests.
	home, err := os.MkdirTemp("", "registry")
	if err != nil {
		log.Fatal(err)
	}
	os.Setenv("HOME", home)
	for _, name := range []string{"DOCKER_CONFIG", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "REGISTRY_AUTH_FILE", "HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"} {
		os.Unsetenv(name)
	}
	code := m.Run()
	os.RemoveAll(home)
	if code == 0 {
		if err := goleak.Find(); err != nil {
			log.Print(err)
			code = 1
		}
	}
	os.Exit(code)
}

// serve runs a registry, or what poses as one, and returns HOST:PORT.
func serve(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func realRegistry() http.Handler { return fake.New(fake.Logger(log.New(io.Discard, "", 0))) }

// push puts an image there and returns its digest.
func push(t *testing.T, host, reference string) string {
	t.Helper()
	image, err := random.Image(64, 1)
	require.NoError(t, err)
	ref, err := name.ParseReference(host + "/" + reference)
	require.NoError(t, err)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	require.NoError(t, remote.Write(ref, image, remote.WithTransport(transport)))
	digest, err := image.Digest()
	require.NoError(t, err)
	return digest.String()
}

func ask(t *testing.T, image string, limit time.Duration, options Options) (Result, time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	start := time.Now()
	return Check(ctx, image, options), time.Since(start)
}

func TestCheckAgainstRegistry(t *testing.T) {
	host := serve(t, realRegistry())
	digest := push(t, host, "lab/tool:1.0")
	for _, test := range []struct {
		image  string
		kind   Kind
		reason string
	}{
		{host + "/lab/tool:1.0", Exists, ""},
		{host + "/lab/tool@" + digest, Exists, ""},
		{host + "/lab/tool:2.0", NotFound, "no such tag or digest"},
		{host + "/lab/tool", NotFound, "no such tag or digest"},
		{host + "/lab/none:1.0", NotFound, "no such repository"},
		{host + "/lab/tool@sha256:" + strings.Repeat("0", 64), NotFound, "no such tag or digest"},
		{host + "/Lab/Tool", Malformed, ""},
	} {
		t.Run(test.image, func(t *testing.T) {
			got, _ := ask(t, test.image, 3*time.Second, Options{})
			assert.Equal(t, test.kind, got.Kind, got.Reason)
			if test.kind == Exists {
				assert.Equal(t, digest, got.Digest)
			}
			if test.reason != "" {
				assert.Equal(t, test.reason, got.Reason)
			}
			if test.kind != Malformed {
				assert.Equal(t, host, got.Registry)
			}
		})
	}
}

// answer poses as a registry: what it says to "are you one", and to the question.
func answer(ping int, manifests http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v2/" {
			w.WriteHeader(ping)
			return
		}
		manifests(w, r)
	})
}

func status(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

func TestCheckAgainstOthers(t *testing.T) {
	real := realRegistry()
	noHead := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		real.ServeHTTP(w, r)
	})
	for _, test := range []struct {
		name    string
		handler http.Handler
		kind    Kind
		reason  string
	}{
		{"denied at the door", answer(401, status(401, "")), Denied, "access denied"},
		{"denied inside", answer(200, status(403, "")), Denied, "access denied"},
		{"404 everywhere", status(404, "<html>"), Unreachable, "what answers there is no image registry (404)"},
		{"404 of the manifest alone", answer(200, status(404, "")), NotFound, "no such tag or digest"},
		{"500", answer(200, status(500, "boom")), Unreachable, "it answered 500 Internal Server Error"},
		{"500 at the door", status(500, "boom"), Unreachable, "what answers there is no image registry (500)"},
		{"429", answer(200, status(429, "")), Unreachable, "it limits the rate of requests (429)"},
		{"a web page for everything", status(200, "<html>hello</html>"), Unreachable, "what answers there is no image registry"},
		{"no HEAD", noHead, NotFound, "no such repository"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, _ := ask(t, serve(t, test.handler)+"/lab/tool:1.0", 3*time.Second, Options{})
			assert.Equal(t, test.kind, got.Kind, got.Reason)
			assert.Equal(t, test.reason, got.Reason)
		})
	}
}

func TestCheckWithoutHead(t *testing.T) {
	real := realRegistry()
	noHead := false
	host := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if noHead && r.Method == http.MethodHead {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		real.ServeHTTP(w, r)
	}))
	digest := push(t, host, "lab/tool:1.0")
	noHead = true
	got, _ := ask(t, host+"/lab/tool:1.0", 3*time.Second, Options{})
	assert.Equal(t, Exists, got.Kind, got.Reason)
	assert.Equal(t, digest, got.Digest)
}

func TestCheckKeepsToItsTime(t *testing.T) {
	release := make(chan struct{})
	hang := func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}
	t.Cleanup(func() { close(release) })
	for name, handler := range map[string]http.Handler{
		"hangs at the door": http.HandlerFunc(hang),
		"hangs inside":      answer(200, hang),
	} {
		t.Run(name, func(t *testing.T) {
			got, took := ask(t, serve(t, handler)+"/lab/tool:1.0", 400*time.Millisecond, Options{})
			assert.Equal(t, Unreachable, got.Kind)
			assert.Equal(t, "no answer in time", got.Reason)
			assert.Less(t, took, 2*time.Second)
		})
	}
}

func TestCheckUnreachable(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	closed := listener.Addr().String()
	require.NoError(t, listener.Close())
	got, _ := ask(t, closed+"/lab/tool:1.0", 3*time.Second, Options{})
	assert.Equal(t, Result{Kind: Unreachable, Registry: closed, Reason: "connection refused"}, got)

	got, _ = ask(t, "registry.invalid/lab/tool:1.0", 3*time.Second, Options{})
	assert.Equal(t, Unreachable, got.Kind)
	assert.NotEmpty(t, got.Reason)
}

func TestCheckPlainHTTPIsTheSitesChoice(t *testing.T) {
	listener, err := net.Listen("tcp", "0.0.0.0:0")
	require.NoError(t, err)
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: realRegistry()}}
	server.Start()
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	push(t, "127.0.0.1:"+port, "lab/tool:1.0")

	// The same machine, and not loopback by its name.
	host := "0.0.0.0:" + port
	got, _ := ask(t, host+"/lab/tool:1.0", 3*time.Second, Options{})
	assert.Equal(t, Unreachable, got.Kind)
	assert.Contains(t, got.Reason, "submission.insecure_registries")

	got, _ = ask(t, host+"/lab/tool:1.0", 3*time.Second, Options{Insecure: []string{host}})
	assert.Equal(t, Exists, got.Kind, got.Reason)
}

func TestCheckCredentials(t *testing.T) {
	real := realRegistry()
	guarded := false
	host := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); guarded && (user != "alice" || password != "secret") {
			w.Header().Set("WWW-Authenticate", `Basic realm="lab"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		real.ServeHTTP(w, r)
	}))
	push(t, host, "lab/tool:1.0")
	guarded = true
	image := host + "/lab/tool:1.0"

	got, _ := ask(t, image, 3*time.Second, Options{})
	assert.Equal(t, Denied, got.Kind, "no credentials: %s", got.Reason)

	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("DOCKER_CONFIG", filepath.Join(home, ".docker"))
	require.NoError(t, os.Mkdir(filepath.Join(home, ".docker"), 0o700))
	write := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(home, ".docker", "config.json"), []byte(text), 0o600))
	}
	write(`{"auths": {"` + host + `": {"username": "alice", "password": "secret"}}}`)
	got, _ = ask(t, image, 3*time.Second, Options{})
	assert.Equal(t, Exists, got.Kind, "the user's own: %s", got.Reason)

	write(`{"auths": `)
	got, _ = ask(t, image, 3*time.Second, Options{})
	assert.Equal(t, Denied, got.Kind, "a broken file counts as none: %s", got.Reason)
}

func TestOneLine(t *testing.T) {
	assert.Equal(t, "a b [31mc", oneLine("a\n\tb \x1b[31mc"))
	assert.Len(t, []rune(oneLine(strings.Repeat("ä", 1000))), maxReason+3)
}

func TestKindNames(t *testing.T) {
	seen := map[string]bool{}
	for _, kind := range []Kind{Unreachable, Exists, NotFound, Denied, Malformed} {
		assert.False(t, seen[kind.String()])
		seen[kind.String()] = true
	}
}
