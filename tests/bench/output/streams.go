// SPDX-License-Identifier: Apache-2.0

package output

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/klog/v2"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/gauge"
	"github.com/slurm-k8s/slurm-k8s/tests/bench/world"
	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// idle holds streams open that carry nothing and looks at kube-apiserver's memory: execs, one of which each job has, and
// followed logs.
func (r *row) idle(ctx context.Context, count int) (err error) {
	if count == 0 {
		return nil
	}
	pod, err := r.StartPod("streams", "echo here; exec sleep 86400", "", 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pod.Remove()) }()
	if err := pod.Await(ctx, time.Minute, "Running"); err != nil {
		return err
	}
	for _, way := range []struct {
		name string
		open func(context.Context, string, func()) error
	}{{"exec", r.exec}, {"logs -f", r.log}} {
		if err := r.hold(ctx, way.name, count, func(ctx context.Context, open func()) error { return way.open(ctx, pod.Name, open) }); err != nil {
			return fmt.Errorf("%d idle streams by %s: %w", count, way.name, err)
		}
	}
	return nil
}

// hold opens count streams, looks, and closes them. Each calls open once it has carried a first byte.
func (r *row) hold(ctx context.Context, name string, count int, stream func(ctx context.Context, open func()) error) error {
	server, err := gauge.Daemon(r.Lab.Dir, "kube-apiserver")
	if err != nil {
		return err
	}
	live, err := r.LiveInServer()
	if err != nil {
		return err
	}
	before := gauge.MemoryOf(server)
	ctx, cancel := context.WithCancel(ctx)
	var open atomic.Int64
	var all sync.WaitGroup
	broken := make(chan error, count)
	defer all.Wait()
	defer cancel()
	for range count {
		all.Go(func() {
			if err := stream(ctx, func() { open.Add(1) }); ctx.Err() == nil {
				broken <- fmt.Errorf("a stream has ended: %w", err)
			}
		})
	}
	if !testcluster.Until(3*time.Minute, func() bool { return int(open.Load()) == count || len(broken) > 0 }) {
		return fmt.Errorf("%d are open after 3 min", open.Load())
	}
	select {
	case err := <-broken:
		return err
	default:
	}
	from := gauge.CPU(server)
	const look = 15 * time.Second
	time.Sleep(look)
	cpu := gauge.CPU(server) - from
	what := fmt.Sprintf("kube-apiserver with %d idle streams of %s", count, name)
	now, err := r.LiveInServer()
	if err != nil {
		return err
	}
	r.lines.Add(what+": live objects more, per stream", "KB", "", (now-live)*1000/float64(count))
	r.lines.Add(what+": anonymous memory more, per stream", "KB", "", (gauge.MemoryOf(server).Anonymous-before.Anonymous)*1000/float64(count))
	r.lines.Add(what+": CPU per minute", "s", "", cpu*float64(time.Minute/look))
	return nil
}

// exec is as the core's: by websocket, with stdin, stdout and stderr.
func (r *row) exec(ctx context.Context, pod string, open func()) error {
	config, err := clientcmd.BuildConfigFromFlags("", r.Lab.Vars["KUBECONFIG"])
	if err != nil {
		return err
	}
	config.Proxy = http.ProxyURL(nil)
	request := r.Client.Get().Namespace(world.PodSpace).Resource("pods").Name(pod).SubResource("exec").VersionedParams(&corev1.PodExecOptions{
		Container: "job", Command: []string{"sh", "-c", "echo here; exec cat"}, Stdin: true, Stdout: true, Stderr: true,
	}, scheme.ParameterCodec)
	executor, err := remotecommand.NewWebSocketExecutor(config, http.MethodGet, request.URL().String())
	if err != nil {
		return err
	}
	input, end := io.Pipe()
	defer end.Close()
	ctx = klog.NewContext(ctx, klog.Logger{}) // it logs an error for each stream that is closed here
	return executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: input, Stdout: &firstByte{open: open}, Stderr: io.Discard})
}

func (r *row) log(ctx context.Context, pod string, open func()) error {
	log, err := r.Client.Get().Namespace(world.PodSpace).Resource("pods").Name(pod).SubResource("log").Param("follow", "true").Stream(ctx)
	if err != nil {
		return err
	}
	defer log.Close()
	_, err = io.Copy(&firstByte{open: open}, log)
	return err
}

// firstByte calls open when something came.
type firstByte struct {
	once sync.Once
	open func()
}

func (f *firstByte) Write(p []byte) (int, error) {
	f.once.Do(f.open)
	return len(p), nil
}
