// SPDX-License-Identifier: Apache-2.0

package core

import "strings"

// request is a vector of "key=value" as gocore.h has it.
type request []string

// get is the first value of the key, or "".
func (r request) get(key string) string {
	for _, field := range r {
		if k, v, found := strings.Cut(field, "="); found && k == key {
			return v
		}
	}
	return ""
}

// all are the values of a key that may come more than once.
func (r request) all(key string) []string {
	var values []string
	for _, field := range r {
		if k, v, found := strings.Cut(field, "="); found && k == key {
			values = append(values, v)
		}
	}
	return values
}
