// SPDX-License-Identifier: Apache-2.0

// Package fakekubelet is a Kubernetes node without a machine: its Pods run at once, hold nothing and cost nothing, and
// yet podinit's pump can be exec'ed in them, as through a real kubelet, and finds a podinit whose tasks sleep. So the
// Slurm node, and the API server between the two, can be looked at under more jobs than containers would fit.
package fakekubelet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// Config says where the fake node is.
type Config struct {
	Client rest.Interface // of core/v1, as an administrator
	Name   string         // of the Node
	PKI    string         // folder with ca.crt and ca.key, which kube-apiserver believes
	Log    func(string)   // what did not work; what the API server did not do is tried again
}

// Kubelet is one that runs.
type Kubelet struct {
	Config
	address *net.TCPAddr
	server  *http.Server
	cancel  context.CancelFunc
	running sync.WaitGroup
	over    func(*fakePod) // tells that a Pod has ended
	pause   time.Duration  // before something is tried again

	mu   sync.Mutex
	pods map[types.UID]*fakePod
	made int // Pods so far, for their addresses
}

// Start registers the node and takes what is bound to it, until Stop.
func Start(config Config) (*Kubelet, error) {
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	k := &Kubelet{Config: config, address: listener.Addr().(*net.TCPAddr), pause: time.Second, pods: map[types.UID]*fakePod{}}
	secrets, err := serving(k.PKI, k.Name, k.address.IP)
	if err == nil {
		err = k.Client.Post().Resource("nodes").Body(k.node()).Do(context.Background()).Error()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("node %s: %w", k.Name, err), listener.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	k.cancel, k.over = cancel, func(pod *fakePod) { k.ended(ctx, pod) }
	paths := http.NewServeMux()
	paths.HandleFunc("GET /exec/{namespace}/{pod}/{container}", k.exec)
	paths.HandleFunc("POST /exec/{namespace}/{pod}/{container}", k.exec)
	k.server = &http.Server{Handler: paths, TLSConfig: secrets, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	k.run("exec", func() {
		if err := k.server.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
			k.Log("exec: " + err.Error())
		}
	})
	k.run("heartbeat", func() { k.beat(ctx) })
	k.run("Pods", func() { k.follow(ctx) })
	return k, nil
}

// run is a goroutine of ours, which Stop waits for.
func (k *Kubelet) run(what string, do func()) {
	k.running.Go(func() {
		defer func() {
			if r := recover(); r != nil {
				k.Log(fmt.Sprintf("%s: panic: %v", what, r))
			}
		}()
		do()
	})
}

// Stop ends the Pods and takes the node away.
func (k *Kubelet) Stop() error {
	k.cancel()
	err := k.server.Close()
	for _, pod := range k.all() {
		pod.podinit.kill()
	}
	k.running.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, pod := range k.all() {
		k.remove(ctx, pod)
	}
	gone := k.Client.Delete().Resource("nodes").Name(k.Name).Body(&metav1.DeleteOptions{}).Do(ctx).Error()
	return errors.Join(err, gone)
}

// Tasks counts the tasks that run.
func (k *Kubelet) Tasks() int {
	count := 0
	for _, pod := range k.all() { // without our lock: a pump that takes nothing holds its podinit's for a while
		pod.podinit.mu.Lock()
		count += pod.podinit.running
		pod.podinit.mu.Unlock()
	}
	return count
}
