// SPDX-License-Identifier: Apache-2.0

package full

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// starts are the jobs that have written their first byte to their --output. What the plugin has to say goes to --error.
type starts struct {
	folder string
	known  map[string]bool
}

// newStarts knows those of before.
func newStarts(folder string) *starts {
	s := &starts{folder, map[string]bool{}}
	s.news()
	return s
}

// news are the ids of those that were not known.
func (s *starts) news() (ids []string) {
	files, _ := filepath.Glob(filepath.Join(s.folder, "*.out"))
	for _, path := range files {
		if info, err := os.Stat(path); err == nil && info.Size() > 0 && !s.known[path] {
			s.known[path] = true
			ids = append(ids, strings.TrimSuffix(filepath.Base(path), ".out"))
		}
	}
	return ids
}

// next waits for the next of them, a few milliseconds exactly.
func (s *starts) next(ctx context.Context, limit time.Duration) ([]string, error) {
	for end := time.Now().Add(limit); ; time.Sleep(10 * time.Millisecond) {
		if ids := s.news(); len(ids) > 0 {
			return ids, nil
		}
		if ctx.Err() != nil || time.Now().After(end) {
			return nil, fmt.Errorf("no job has started after %s", limit)
		}
	}
}
