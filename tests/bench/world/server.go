// SPDX-License-Identifier: Apache-2.0

package world

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"
)

// LiveInServer are the megabytes that kube-apiserver's own objects and stacks take, behind a collection of its garbage. What the
// kernel says of its memory hardly shrinks, and grows by steps.
func (w *World) LiveInServer() (float64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := w.Client.Get().AbsPath("/debug/pprof/heap").Param("gc", "1").Do(ctx).Error(); err != nil {
		return 0, err
	}
	text, err := w.Client.Get().AbsPath("/metrics").Do(ctx).Raw()
	if err != nil {
		return 0, err
	}
	sum, found := 0.0, 0
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if name == "go_memstats_heap_alloc_bytes" || name == "go_memstats_stack_inuse_bytes" {
			n, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return 0, err
			}
			sum, found = sum+n, found+1
		}
	}
	if found != 2 {
		return 0, errors.New("kube-apiserver's metrics do not tell of its memory")
	}
	return sum / 1e6, lines.Err()
}
