// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// renewed makes the configuration follow the token in the kubeconfig at path: a step may live longer than its token,
// and a site renews that by replacing the file. client-go does so for files that a kubeconfig names, not for itself.
func renewed(config *rest.Config, path string, check func(*os.File) error) {
	if config.BearerToken == "" || config.BearerTokenFile != "" {
		return
	}
	token := &atomic.Pointer[string]{} // one for all connections
	token.Store(&config.BearerToken)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &bearer{next: next, token: token, path: path, check: check}
	})
}

// bearer puts the token into requests, and reads it anew when the API server does not take it.
type bearer struct {
	next  http.RoundTripper
	token *atomic.Pointer[string]
	path  string
	check func(*os.File) error
}

func (b *bearer) RoundTrip(request *http.Request) (*http.Response, error) {
	sent := b.token.Load()
	response, err := b.next.RoundTrip(authorized(request, *sent))
	if err != nil {
		b.renew(sent) // an exec that is refused is an error: whoever tries it again has what is new
		return response, err
	}
	if response.StatusCode != http.StatusUnauthorized || !b.renew(sent) {
		return response, err
	}
	again := authorized(request, *b.token.Load())
	if request.Body != nil && request.Body != http.NoBody {
		if request.GetBody == nil {
			return response, err
		}
		if again.Body, err = request.GetBody(); err != nil {
			return response, nil
		}
	}
	response.Body.Close()
	return b.next.RoundTrip(again)
}

// authorized is a copy of the request: it is not ours to change.
func authorized(request *http.Request, token string) *http.Request {
	mine := request.Clone(request.Context())
	mine.Header.Set("Authorization", "Bearer "+token)
	return mine
}

// renew reads the file and says whether there is another token than the one that was sent. Where the file cannot be
// read, or is not as check wants it, the old one stays, and the API server's word is the error that is told.
func (b *bearer) renew(sent *string) bool {
	config, err := readKubeconfig(b.path, b.check)
	if err != nil || config.BearerToken == "" || config.BearerToken == *sent {
		return b.token.Load() != sent
	}
	b.token.Store(&config.BearerToken)
	return true
}

// maxKubeconfig bounds the file that holds a credential.
const maxKubeconfig = 1 << 20

// readKubeconfig opens the file once; check, when not nil, sees it before a byte is read.
func readKubeconfig(path string, check func(*os.File) error) (*rest.Config, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	defer file.Close()
	if check != nil {
		if err := check(file); err != nil {
			return nil, err
		}
	}
	text, err := io.ReadAll(io.LimitReader(file, maxKubeconfig))
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %q: %w", path, err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(text)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %q: %w", path, err)
	}
	return config, nil
}
