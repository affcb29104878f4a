// SPDX-License-Identifier: Apache-2.0

package site

import (
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// KubeconfigInCluster, as kubeconfig: slurmd runs in a Pod itself and has its account's token.
// Behind it may stand ":" and the folder where that is mounted.
const KubeconfigInCluster = "in-cluster"

// accountFolder is where Kubernetes mounts a Pod's token by itself.
const accountFolder = "/var/run/secrets/kubernetes.io/serviceaccount"

// InCluster is the folder of the Pod's own account (token, ca.crt, namespace), where the
// kubeconfig's text asks for that.
func InCluster(kubeconfig string) (folder string, asked bool) {
	if kubeconfig == KubeconfigInCluster {
		return accountFolder, true
	}
	return strings.CutPrefix(kubeconfig, KubeconfigInCluster+":")
}

// CredentialFile is the file that only root may read.
func (c *Config) CredentialFile() string {
	if folder, asked := InCluster(c.Kubeconfig); asked {
		return filepath.Join(folder, "token")
	}
	return c.Kubeconfig
}

// maxNamespace bounds what is read of the account's namespace.
const maxNamespace = 63

// takeNamespace gives a configuration that names no namespace the one of the Pod it is read
// in. Where there is none, as on a login node, the default stays.
func (c *Config) takeNamespace(data []byte) {
	var given struct {
		named
		Clusters []named `json:"clusters"`
	}
	if yaml.Unmarshal(data, &given) != nil {
		return
	}
	if len(c.Clusters) == 0 {
		given.take(c.Kubeconfig, &c.Namespace, &c.System)
	}
	for i := range c.Clusters {
		if i < len(given.Clusters) {
			given.Clusters[i].take(c.Clusters[i].Kubeconfig, &c.Clusters[i].Namespace, &c.Clusters[i].System)
		}
	}
	c.settleClusters()
}

// named are a cluster's namespaces as the file has them.
type named struct {
	Namespace *string `json:"namespace"`
	System    *string `json:"system_namespace"`
}

// take gives the Pod's own namespace to that of the two which the file leaves out.
func (n named) take(kubeconfig string, namespace, system *string) {
	switch {
	case n.Namespace == nil:
		takeOwnNamespace(kubeconfig, namespace)
	case n.System == nil && strings.Contains(*namespace, "%"):
		takeOwnNamespace(kubeconfig, system)
	}
}

func takeOwnNamespace(kubeconfig string, to *string) {
	folder, asked := InCluster(kubeconfig)
	if !asked {
		return
	}
	text, err := os.ReadFile(filepath.Join(folder, "namespace"))
	if name := strings.TrimSpace(string(text)); err == nil && name != "" && len(name) <= maxNamespace {
		*to = name
	}
}

func validateKubeconfig(f *faults, key, path string) {
	if folder, asked := InCluster(path); asked {
		path = folder
	}
	f.absolute(key, path)
}
