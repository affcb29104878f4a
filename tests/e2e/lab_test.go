// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

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

// namespace of the jobs' Pods in the demo cluster.
const namespace = "slurm"

// cluster is the running one-machine cluster.
type cluster struct {
	dir     string
	scripts string            // tests/cluster
	vars    map[string]string // what $CLUSTER/env exports
	plugin  bool              // the product is installed
	api     *http.Client
	host    string
}

var lab cluster

// open finds the cluster, or says in one line how to get one.
func (c *cluster) open() error {
	c.dir = os.Getenv("SLURM_K8S_CLUSTER")
	if c.dir == "" {
		c.dir = "/var/tmp/slurm-k8s-cluster"
	}
	if os.Getuid() != 0 {
		return errors.New("must run as root: the scripts act as several users and kill daemons")
	}
	none := func(why string) error { return fmt.Errorf("no cluster in %s (%s): make cluster-up", c.dir, why) }
	source := exec.Command("bash", "-c", `. "$1" && env -0`, "bash", filepath.Join(c.dir, "env"))
	source.Env = []string{"PATH=" + os.Getenv("PATH")}
	out, err := source.Output()
	if err != nil {
		return none("no file env")
	}
	c.vars = map[string]string{}
	for _, kv := range strings.Split(string(out), "\x00") {
		if k, v, _ := strings.Cut(kv, "="); k != "" && k != "_" && k != "PWD" && k != "SHLVL" {
			c.vars[k] = v
		}
	}
	for k, v := range c.vars {
		os.Setenv(k, v)
	}
	if c.scripts, err = filepath.Abs("../cluster"); err != nil {
		return err
	}
	if out, err := run(10*time.Second, "scontrol", "ping"); err != nil || !strings.Contains(out, "UP") {
		return none("slurmctld does not answer")
	}
	config, err := clientcmd.BuildConfigFromFlags("", c.vars["KUBECONFIG"])
	if err != nil {
		return none(err.Error())
	}
	c.host = config.Host
	config.Proxy = http.ProxyURL(nil)
	if c.api, err = rest.HTTPClientFor(config); err != nil {
		return none(err.Error())
	}
	if err := c.get("/readyz", nil); err != nil {
		return none("kube-apiserver does not answer")
	}
	stack, err := os.ReadFile(filepath.Join(c.dir, "etc/plugstack.conf"))
	c.plugin = err == nil && strings.Contains(string(stack), "spank_k8s.so")
	if !c.plugin {
		return nil // plain scripts run all the same
	}
	// What a timer does on a real site: it publishes the shapes of the nodes, which submissions are checked against.
	_, err = run(time.Minute, "slurm-k8s", "gc", "--config="+c.dir+"/etc/k8s.yaml", "--libexec="+c.dir+"/libexec")
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("slurm-k8s is not installed in %s: make build && tests/cluster/install", c.dir)
	}
	return err
}

var errNotFound = errors.New("not found")

// get asks the API server, as the administrator.
func (c *cluster) get(path string, into any) error {
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
		return errNotFound
	case response.StatusCode != http.StatusOK:
		return fmt.Errorf("%s: %s", path, response.Status)
	case into == nil:
		return nil
	}
	return json.Unmarshal(body, into)
}

// run runs a program as root and gives its stdout; an error has its stderr.
func run(limit time.Duration, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(exit.Stderr)))
	}
	return string(out), err
}
