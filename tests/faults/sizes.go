// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// sizes are those of the daemons that load the plugin and live long.
type sizes struct {
	mu      sync.Mutex
	samples map[string][]sample // by "NAME PID"
}

type sample struct {
	at        time.Time
	anonymous int // KiB
	files     int
}

// A process younger than this has not served enough to be judged.
const grown = 90 * time.Second

func (z *sizes) measure(dir string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.samples == nil {
		z.samples = map[string][]sample{}
	}
	for _, name := range []string{"slurmd-n1", "slurmd-n2"} {
		pid, _ := os.ReadFile(filepath.Join(dir, "run", name+".pid"))
		folder := "/proc/" + strings.TrimSpace(string(pid))
		files, err := os.ReadDir(folder + "/fd")
		status, _ := os.ReadFile(folder + "/status")
		_, rest, found := strings.Cut(string(status), "RssAnon:")
		if err != nil || !found {
			continue
		}
		anonymous, _ := strconv.Atoi(strings.Fields(rest)[0])
		key := name + " " + filepath.Base(folder)
		z.samples[key] = append(z.samples[key], sample{time.Now(), anonymous, len(files)})
	}
}

// judge: at rest at the end no daemon has more files than when it was young, nor much more memory than after its first minute.
func (z *sizes) judge(r *report) {
	z.mu.Lock()
	defer z.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(z.samples)) {
		all := z.samples[key]
		first, last := all[0], all[len(all)-1]
		if last.at.Sub(first.at) < grown {
			continue
		}
		for _, s := range all {
			if s.at.Sub(first.at) < grown {
				first.anonymous = max(first.anonymous, s.anonymous)
				first.files = max(first.files, s.files)
			}
		}
		r.figures = append(r.figures, fmt.Sprintf("%s for %s: anonymous memory %d to %d KiB, files %d to %d", key, last.at.Sub(first.at).Round(time.Second),
			first.anonymous, last.anonymous, first.files, last.files))
		if last.anonymous > first.anonymous+4096 {
			r.add(0, "%s has grown from %d to %d KiB", key, first.anonymous, last.anonymous)
		}
		if last.files > first.files+4 {
			r.add(0, "%s has %d files open, and had at most %d", key, last.files, first.files)
		}
	}
}
