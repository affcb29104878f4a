// SPDX-License-Identifier: Apache-2.0

package output

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/bench/world"
	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// limit is for one job with its output.
const limit = 20 * time.Minute

// job runs a batch job and looks at its --output as it grows.
func (r *row) job(ctx context.Context, args []string, script string) (arrival, error) {
	id, err := r.Sbatch(append(args, "--wrap", script)...)
	if err != nil {
		return arrival{}, err
	}
	path := filepath.Join(r.Work, id+".out")
	defer os.Remove(path)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	grown := watchFile(ctx, path)
	state := ""
	if !testcluster.Until(limit, func() bool {
		records, err := testcluster.Records(id)
		if err == nil {
			state = records[0]["JobState"]
		}
		return testcluster.Terminal[state]
	}) || state != "COMPLETED" {
		return arrival{}, fmt.Errorf("job %s is %s, not COMPLETED", id, state)
	}
	cancel()
	a := arrival{seconds: <-grown}
	file, err := os.Open(path)
	if err != nil {
		return a, err
	}
	defer file.Close()
	counted := &counter{}
	_, err = io.CopyBuffer(counted, onlyReader{file}, make([]byte, 1<<20))
	a.bytes, a.lines = counted.bytes, counted.lines
	return a, err
}

// watchFile gives the seconds from a file's first byte to its last one, once ctx ends.
func watchFile(ctx context.Context, path string) <-chan float64 {
	grown := make(chan float64, 1)
	go func() {
		var first, last time.Time
		size := int64(0)
		look := func() {
			info, err := os.Stat(path)
			if err != nil || info.Size() == size {
				return
			}
			size, last = info.Size(), time.Now()
			if first.IsZero() {
				first = last
			}
		}
		again := time.NewTicker(10 * time.Millisecond)
		defer again.Stop()
		for ctx.Err() == nil {
			look()
			select {
			case <-ctx.Done():
			case <-again.C:
			}
		}
		look()
		grown <- max(last.Sub(first).Seconds(), 0.01)
	}()
	return grown
}

// followed runs the script in a Pod of its own and takes its output by kubectl.
func (r *row) followed(ctx context.Context, script string) (_ arrival, err error) {
	pod, err := r.StartPod("logged", script, "", 1)
	if err != nil {
		return arrival{}, err
	}
	defer func() { err = errors.Join(err, pod.Remove()) }()
	if err := pod.Await(ctx, limit, "Running", "Succeeded"); err != nil {
		return arrival{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	counted := &counter{first: time.Now()} // what was written before somebody looked is not faster for that
	var said bytes.Buffer
	kubectl := exec.CommandContext(ctx, "kubectl", "logs", "--follow", "--namespace", world.PodSpace, pod.Name)
	kubectl.Stdout, kubectl.Stderr = counted, &said
	if err := kubectl.Run(); err != nil {
		return arrival{}, fmt.Errorf("kubectl logs: %w: %s", err, strings.TrimSpace(said.String()))
	}
	if err := pod.Await(ctx, time.Minute, "Succeeded"); err != nil {
		return arrival{}, fmt.Errorf("behind kubectl's end, with %d bytes: %w", counted.bytes, err)
	}
	return arrival{counted.bytes, counted.lines, max(counted.last.Sub(counted.first).Seconds(), 0.01)}, nil
}

// counter counts what is written to it.
type counter struct {
	bytes, lines int64
	first, last  time.Time
}

func (c *counter) Write(p []byte) (int, error) {
	c.last = time.Now()
	if c.first.IsZero() {
		c.first = c.last
	}
	c.bytes += int64(len(p))
	c.lines += int64(bytes.Count(p, []byte{'\n'}))
	return len(p), nil
}

// onlyReader hides a file's other methods, so that what is read passes through a buffer.
type onlyReader struct{ io.Reader }
