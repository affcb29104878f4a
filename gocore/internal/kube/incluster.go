// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/rest"
)

// apiServer is the API server's name in every cluster: the epilog does not have the variables
// of the Pod that it runs in.
const apiServer, apiPort = "kubernetes.default.svc", "443"

// openInCluster is the credential of the Pod that this process runs in. The token is read anew
// as it is renewed; check sees it now.
func openInCluster(folder string, check func(*os.File) error) (*Client, error) {
	file, err := os.Open(filepath.Join(folder, "token"))
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: in-cluster: %w (does this process run in a Pod?)", err)
	}
	defer file.Close()
	if check != nil {
		if err := check(file); err != nil {
			return nil, fmt.Errorf("kubeconfig: in-cluster: %w (in a Pod: a projected volume with defaultMode: 0400)", err)
		}
	}
	token, err := io.ReadAll(io.LimitReader(file, maxKubeconfig))
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: in-cluster: %w", err)
	}
	ca, err := os.ReadFile(filepath.Join(folder, "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: in-cluster: %w", err)
	}
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		host, port = apiServer, apiPort
	}
	return New(&rest.Config{
		Host:            "https://" + net.JoinHostPort(host, port),
		BearerToken:     strings.TrimSpace(string(token)),
		BearerTokenFile: file.Name(),
		TLSClientConfig: rest.TLSClientConfig{CAData: ca},
	})
}
