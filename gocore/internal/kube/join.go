// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"
)

// joinTimeout bounds the exec of a join, which returns as soon as podinit listens.
const joinTimeout = 30 * time.Second

// Join execs a podinit that joins the Pod's container, and waits until it has said yes, or no:
// then its words are in the error. Needs the verbs get and create on pods/exec.
func (c *Client) Join(ctx context.Context, namespace, pod string, command []string) error {
	ctx, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	executor, err := c.exec(namespace, pod, command)
	if err != nil {
		return err
	}
	var said tail
	// Its input is empty. The policy wants all three, as the pump has them.
	err = executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: bytes.NewReader(nil), Stdout: io.Discard, Stderr: &said})
	if err != nil && said.text() != "" {
		err = fmt.Errorf("%w [%s]", err, said.text())
	}
	return err
}

// Exited tells an error of a command that ran and ended with a code from one of the way to it.
func Exited(err error) bool {
	var code exec.CodeExitError
	return errors.As(err, &code)
}
