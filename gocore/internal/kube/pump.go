// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/remotecommand"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// Pump execs podinit's pump in the Pod's container and returns its stdin and stdout.
// Reading fails when the pump or the connection ends; Close ends both. By websocket,
// whose output was seen to be complete, apart and with back-pressure. Needs the verbs get
// and create on pods/exec.
func (c *Client) Pump(ctx context.Context, namespace, pod string, session uint64) (io.ReadWriteCloser, error) {
	executor, err := c.exec(namespace, pod, wellknown.PumpCommand(session))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	inReader, inWriter := io.Pipe()
	outReader, outWriter := io.Pipe()
	p := &pump{Reader: outReader, Writer: inWriter, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		var said tail
		err := func() (err error) {
			defer func() {
				if r := recover(); r != nil {
					err = fmt.Errorf("exec of the pump: panic: %v", r)
				}
			}()
			return executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: inReader, Stdout: outWriter, Stderr: &said})
		}()
		switch {
		case err == nil:
			err = io.EOF
		case said.text() != "":
			err = fmt.Errorf("%w [%s]", err, said.text())
		}
		outWriter.CloseWithError(err)
		inReader.CloseWithError(err)
		cancel()
	}()
	return p, nil
}

// exec prepares a command in the Pod's container.
func (c *Client) exec(namespace, pod string, command []string) (remotecommand.Executor, error) {
	request := c.REST.Get().Namespace(namespace).Resource("pods").Name(pod).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{
			Container: wellknown.ContainerName,
			Command:   command,
			Stdin:     true,
			Stdout:    true,
			Stderr:    true,
		}, c.params)
	return remotecommand.NewWebSocketExecutor(c.config, "GET", request.URL().String())
}

type pump struct {
	io.Reader
	io.Writer
	cancel context.CancelFunc
	done   chan struct{}
	once   sync.Once
}

// Close ends the connection and waits for its goroutine.
func (p *pump) Close() error {
	p.once.Do(func() {
		p.cancel()
		p.Reader.(*io.PipeReader).Close()
		p.Writer.(*io.PipeWriter).Close()
	})
	<-p.done
	return nil
}

// tail keeps the first bytes of what a pump says on its stderr, which it may still do
// when the stream has ended. It embeds no Buffer: io.Copy would take its ReadFrom, and all.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

const tailMax = 512

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p[:min(tailMax-len(t.kept), len(p))]...)
	return len(p), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.kept))
}
