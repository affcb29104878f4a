// SPDX-License-Identifier: Apache-2.0

package job

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Bounds of what a vector may say. maxID is Kubernetes' (runAsUser is 0 to 2^31-1).
const (
	maxID     = 1<<31 - 1
	maxGroups = 65536 // Linux's NGROUPS_MAX
	maxTasks  = 4096  // frames.h, K8S_RECORD_TASKS
	maxNodes  = 1 << 20
	// maxComponents is Slurm's MAX_HET_JOB_COMPONENTS.
	maxComponents = 128
	maxCPUs       = 1 << 20
	maxMemoryMiB  = 1 << 40
	maxVector     = 1 << 16
)

// fields reads a vector of "key=value" (gocore.h). Faults are collected; the first is told.
type fields struct {
	values map[string]string
	err    error
}

// newFields wants each key once: gocore.h says where one may come more often.
func newFields(vector []string) *fields {
	f := &fields{values: make(map[string]string, len(vector))}
	if len(vector) > maxVector {
		f.fail("a vector of %d facts", len(vector))
		return f
	}
	for _, entry := range vector {
		key, value, found := strings.Cut(entry, "=")
		if !found || key == "" {
			f.fail("%q is not key=value", entry)
			continue
		}
		if strings.IndexByte(value, 0) >= 0 {
			f.fail("%s: the value has a NUL byte", key)
			continue
		}
		if old, twice := f.values[key]; twice && old != value {
			f.fail("%s is given twice, as %q and %q", key, old, value)
			continue
		}
		f.values[key] = value
	}
	return f
}

func (f *fields) fail(format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf(format, args...)
	}
}

func (f *fields) text(key string, to *string) {
	if value, ok := f.values[key]; ok {
		*to = value
	}
}

func (f *fields) flag(key string, to *bool) {
	switch value, ok := f.values[key]; {
	case !ok:
	case value == "0" || value == "1":
		*to = value == "1"
	default:
		f.fail("%s: %q is neither 0 nor 1", key, value)
	}
}

// number reads a decimal from 0 to limit.
func number[T ~int | ~int64 | ~uint32](f *fields, key string, limit uint64, to *T) {
	value, ok := f.values[key]
	if !ok {
		return
	}
	n, err := strconv.ParseUint(value, 10, 64)
	if err != nil || n > limit {
		f.fail("%s: %q is not a number from 0 to %d", key, value, limit)
		return
	}
	*to = T(n)
}

// groups reads numbers with commas between; sorted, each once.
func (f *fields) groups(key string, to *[]uint32) {
	value := f.values[key]
	if value == "" {
		return
	}
	parts := strings.Split(value, ",")
	if len(parts) > maxGroups {
		f.fail("%s: %d groups, at most %d are possible", key, len(parts), maxGroups)
		return
	}
	groups := make([]uint32, 0, len(parts))
	for _, part := range parts {
		n, err := strconv.ParseUint(part, 10, 32)
		if err != nil {
			f.fail("%s: %q is not a group's number", key, part)
			return
		}
		groups = append(groups, uint32(n))
	}
	slices.Sort(groups)
	*to = slices.Compact(groups)
}
