// SPDX-License-Identifier: Apache-2.0

package site

import (
	"reflect"
	"strings"
)

// keysOf is the file's keys of a struct, by their json tags.
func keysOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		key, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if key != "" && key != "-" {
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
