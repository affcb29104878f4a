// SPDX-License-Identifier: Apache-2.0

package site

import (
	"fmt"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
)

// lines says where in the file each key stands, by its path ("gate.wait", "volumes.home",
// "users[0]"). The library that reads the values knows no lines; this one is asked for them alone.
type lines struct {
	at     map[string]int
	faults []Fault // keys given twice
}

// linesOf reads them; none where the file is no YAML, which is said elsewhere.
func linesOf(data []byte) *lines {
	l := &lines{at: map[string]int{}}
	var document yamlv3.Node
	if err := yamlv3.Unmarshal(data, &document); err != nil {
		return l
	}
	for _, node := range document.Content {
		l.walk(node, "", 0)
	}
	return l
}

// maxDepth is far more than the file has.
const maxDepth = 64

func (l *lines) walk(node *yamlv3.Node, path string, depth int) {
	if depth > maxDepth {
		return
	}
	switch node.Kind {
	case yamlv3.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			key, value := node.Content[i], node.Content[i+1]
			below := joined(path, key.Value)
			if first, twice := l.at[below]; twice {
				l.faults = append(l.faults, Fault{key.Line, below, fmt.Sprintf("given twice, first in line %d", first)})
				continue
			}
			l.at[below] = key.Line
			l.walk(value, below, depth+1)
		}
	case yamlv3.SequenceNode:
		for i, value := range node.Content {
			below := fmt.Sprintf("%s[%d]", path, i)
			l.at[below] = value.Line
			l.walk(value, below, depth+1)
		}
	}
}

// of is the line of a path, or of the nearest one above it; 0 where there is none.
func (l *lines) of(path string) int {
	for path != "" {
		if line, ok := l.at[path]; ok {
			return line
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return 0
}

func joined(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
