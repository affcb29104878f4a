// SPDX-License-Identifier: Apache-2.0

package job

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// multiples are Slurm's suffixes of a count (gres.c: powers of 1024).
var multiples = map[byte]int64{'k': 1 << 10, 'm': 1 << 20, 'g': 1 << 30, 't': 1 << 40, 'p': 1 << 50}

// ParseGRES reads Slurm's text of a node's part, "gpu:2,shard:a:1,gpu:a100:1(IDX:0)":
// NAME[:TYPE][:COUNT][(...)], where what stands in brackets names devices of the Slurm
// node and is dropped. Equal ones are summed up, those of count 0 left out.
func ParseGRES(text string) ([]GRES, error) {
	if text == "" || text == "(null)" || text == "N/A" {
		return nil, nil
	}
	var all []GRES
	for _, item := range splitGRES(text) {
		if item == "" {
			continue
		}
		g, err := parseOne(item)
		if err != nil {
			return nil, err
		}
		if g.Count == 0 {
			continue
		}
		if all, err = addGRES(all, g); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// splitGRES cuts at commas outside of brackets and leaves the brackets out.
func splitGRES(text string) []string {
	var items []string
	var item strings.Builder
	depth := 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == '(':
			depth++
		case c == ')':
			depth = max(0, depth-1)
		case depth > 0:
		case c == ',':
			items = append(items, strings.TrimSpace(item.String()))
			item.Reset()
		default:
			item.WriteByte(c)
		}
	}
	return append(items, strings.TrimSpace(item.String()))
}

func parseOne(item string) (GRES, error) {
	// slurmctld writes "gres:gpu:2" or "gres/gpu:2" in some releases and places.
	plain := strings.TrimPrefix(strings.TrimPrefix(item, "gres:"), "gres/")
	parts := strings.Split(plain, ":")
	g := GRES{Name: parts[0], Count: 1}
	rest := parts[1:]
	if len(rest) > 0 {
		if count, ok := parseCount(rest[len(rest)-1]); ok {
			g.Count = count
			rest = rest[:len(rest)-1]
		} else if len(rest) == 2 {
			return GRES{}, fmt.Errorf("%q: %q is not a count", item, rest[1])
		}
	}
	switch len(rest) {
	case 0:
	case 1:
		g.Type = rest[0]
		if g.Type == "" {
			return GRES{}, fmt.Errorf("%q is not NAME[:TYPE][:COUNT]", item)
		}
	default:
		return GRES{}, fmt.Errorf("%q is not NAME[:TYPE][:COUNT]", item)
	}
	if !isWord(g.Name) || !isWord(g.Type) || g.Name == "" {
		return GRES{}, fmt.Errorf("%q is not NAME[:TYPE][:COUNT]", item)
	}
	return g, nil
}

func parseCount(text string) (int64, bool) {
	factor := int64(1)
	if n := len(text); n > 1 {
		if f, ok := multiples[text[n-1]|0x20]; ok {
			factor, text = f, text[:n-1]
		}
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || int64(n) > math.MaxInt64/factor {
		return 0, false
	}
	return int64(n) * factor, true
}

func isWord(text string) bool {
	for i := range len(text) {
		c := text[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"'\=/,()`, c) >= 0 {
			return false
		}
	}
	return true
}

func addGRES(all []GRES, g GRES) ([]GRES, error) {
	for i := range all {
		if all[i].Name == g.Name && all[i].Type == g.Type {
			if all[i].Count > math.MaxInt64-g.Count {
				return nil, fmt.Errorf("too many %s", g.Name)
			}
			all[i].Count += g.Count
			return all, nil
		}
	}
	return append(all, g), nil
}
