// SPDX-License-Identifier: Apache-2.0

package site

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// unknownKeys names every key of the tree that Config does not have, with its path.
// The YAML library would name one, without its path, and take "Namespace" for "namespace".
func unknownKeys(tree map[string]any) error {
	var faults []error
	walkKeys(reflect.TypeFor[Config](), tree, "", func(path string, known []string) {
		fault := fmt.Errorf("%s: unknown key", path)
		if near := nearest(path[strings.LastIndex(path, ".")+1:], known); near != "" {
			fault = fmt.Errorf("%s: unknown key, did you mean %q?", path, near)
		}
		faults = append(faults, fault)
	})
	slices.SortFunc(faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(faults...)
}

func walkKeys(t reflect.Type, tree map[string]any, prefix string, unknown func(path string, known []string)) {
	fields := keysOf(t)
	known := make([]string, 0, len(fields))
	for key := range fields {
		known = append(known, key)
	}
	slices.Sort(known)
	for key, value := range tree {
		field, ok := fields[key]
		if !ok {
			unknown(prefix+key, known)
			continue
		}
		if below, ok := value.(map[string]any); ok && field.Kind() == reflect.Struct {
			walkKeys(field, below, prefix+key+".", unknown)
		}
	}
}

// keysOf is the file's keys of a struct, by their json tags.
func keysOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		key, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if key != "" {
			fields[key] = t.Field(i).Type
		}
	}
	return fields
}

// nearest is the known key that differs in case, underscores or one letter alone.
func nearest(key string, known []string) string {
	plain := func(s string) string { return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(s)) }
	for _, k := range known {
		if plain(k) == plain(key) || nearly(k, key) {
			return k
		}
	}
	return ""
}

// nearly: one letter is missing, too many, or another.
func nearly(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) == len(b) {
		return i == len(a) || a[i+1:] == b[i+1:]
	}
	return a[i:] == b[i+1:]
}
