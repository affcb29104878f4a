// SPDX-License-Identifier: Apache-2.0

// Package testcluster is the tests' hold on the one-machine cluster of tests/cluster that runs.
package testcluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Namespace of the jobs' Pods in the cluster.
const Namespace = "slurm"

// Cluster is the running one-machine cluster.
type Cluster struct {
	Dir     string            // with etc, log, run ... in it
	Scripts string            // tests/cluster
	Vars    map[string]string // what $CLUSTER/env exports
	Plugin  bool              // the product is installed

	api  *http.Client
	host string
}

// Open finds the cluster that runs, and takes over its environment, or says in one line how to get one. It is
// called from a folder beside tests/cluster, as "go test" and the scripts of those folders do, and by root.
func Open() (*Cluster, error) {
	c := &Cluster{}
	c.Dir = os.Getenv("SLURM_K8S_LAB")
	if old := os.Getenv("SLURM_K8S_CLUSTER"); c.Dir == "" && filepath.IsAbs(old) {
		c.Dir = old // its name, before the plugin read that
	}
	if c.Dir == "" {
		c.Dir = "/var/tmp/slurm-k8s-cluster"
	}
	if os.Getuid() != 0 {
		return nil, errors.New("must run as root: the scripts act as several users and kill daemons")
	}
	none := func(why string) error { return fmt.Errorf("no cluster in %s (%s): make cluster-up", c.Dir, why) }
	source := exec.Command("bash", "-c", `. "$1" && env -0`, "bash", filepath.Join(c.Dir, "env"))
	source.Env = []string{"PATH=" + os.Getenv("PATH")}
	out, err := source.Output()
	if err != nil {
		return nil, none("no file env")
	}
	c.Vars = map[string]string{}
	for _, kv := range strings.Split(string(out), "\x00") {
		if k, v, _ := strings.Cut(kv, "="); k != "" && k != "_" && k != "PWD" && k != "SHLVL" {
			c.Vars[k] = v
		}
	}
	for k, v := range c.Vars {
		os.Setenv(k, v)
	}
	if c.Scripts, err = filepath.Abs("../cluster"); err != nil {
		return nil, err
	}
	if out, err := Run(10*time.Second, "scontrol", "ping"); err != nil || !strings.Contains(out, "UP") {
		return nil, none("slurmctld does not answer")
	}
	config, err := clientcmd.BuildConfigFromFlags("", c.Vars["KUBECONFIG"])
	if err != nil {
		return nil, none(err.Error())
	}
	c.host = config.Host
	config.Proxy = http.ProxyURL(nil)
	if c.api, err = rest.HTTPClientFor(config); err != nil {
		return nil, none(err.Error())
	}
	if err := c.Get("/readyz", nil); err != nil {
		return nil, none("kube-apiserver does not answer")
	}
	stack, err := os.ReadFile(filepath.Join(c.Dir, "etc/plugstack.conf"))
	c.Plugin = err == nil && strings.Contains(string(stack), "spank_k8s.so")
	if !c.Plugin {
		return c, nil // plain Slurm can be tested all the same
	}
	// What a timer does on a real site: it publishes the shapes of the nodes, which submissions are checked against.
	_, err = Run(time.Minute, "slurm-k8s", "gc", "--config="+c.Dir+"/etc/k8s.yaml", "--libexec="+c.Dir+"/libexec")
	if errors.Is(err, exec.ErrNotFound) {
		return nil, fmt.Errorf("slurm-k8s is not installed in %s: make build && tests/cluster/install", c.Dir)
	}
	return c, err
}

// ErrNotFound is the API server's answer for what is not there.
var ErrNotFound = errors.New("not found")

// Get asks the API server, as the administrator; into: nil, or what the answer's JSON goes to.
func (c *Cluster) Get(path string, into any) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.host+path, nil)
	if err != nil {
		return err
	}
	response, err := c.api.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return err
	case response.StatusCode == http.StatusNotFound:
		return ErrNotFound
	case response.StatusCode != http.StatusOK:
		return fmt.Errorf("%s: %s", path, response.Status)
	case into == nil:
		return nil
	}
	return json.Unmarshal(body, into)
}
