// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"sigs.k8s.io/yaml"
)

// tables are the Pods to try.
type tables struct {
	pod                        bent   // as the core makes it, bends for all others
	allow                      string // the annotation of the second namespace
	accepted, acceptedByWord   []testPod
	refused                    []testPod
	given, givenWithAnnotation []testPod
}

// testPod is one of them; rule: the one that refuses it.
type testPod struct {
	rule, what string
	pod        object
}

// bent is a Pod in JSON that patches bend.
type bent []byte

// bend applies a JSON patch.
func (b bent) bend(patch string) (object, error) {
	operations, err := jsonpatch.DecodePatch([]byte(patch))
	if err != nil {
		return nil, err
	}
	text, err := operations.Apply(b)
	if err != nil {
		return nil, err
	}
	var o object
	return o, json.Unmarshal(text, &o)
}

// must is bend with a patch of this program's own.
func (b bent) must(patch string) object {
	o, err := b.bend(patch)
	if err != nil {
		panic(err)
	}
	return o
}

// read reads the tables, and the Pods given.
func (v *verifier) read(files []string) (*tables, error) {
	t := &tables{}
	text, err := os.ReadFile(filepath.Join(v.data, "pod.yaml"))
	if err != nil {
		return nil, err
	}
	if t.pod, err = yaml.YAMLToJSON(text); err != nil {
		return nil, err
	}
	allow, err := os.ReadFile(filepath.Join(v.data, "allow"))
	if err != nil {
		return nil, err
	}
	t.allow = strings.ReplaceAll(strings.TrimSpace(string(allow)), "CLASS", v.scratch)
	for name, into := range map[string]*[]testPod{
		"accepted": &t.accepted, "accepted-allowed": &t.acceptedByWord, "accepted-volumes": &t.acceptedByWord,
		"refused": &t.refused, "refused-volumes": &t.refused,
	} {
		pods, err := v.table(t.pod, name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		*into = append(*into, pods...)
	}
	into := &t.given
	for _, file := range files {
		if file == "--volumes" {
			into = &t.givenWithAnnotation
			continue
		}
		pod, err := v.file(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		*into = append(*into, testPod{what: file, pod: pod})
	}
	return t, nil
}

// table reads lines of "[RULE|]WHAT|JSON patch of pod.yaml"; refused tables have the rule.
func (v *verifier) table(pod bent, name string) ([]testPod, error) {
	text, err := os.ReadFile(filepath.Join(v.data, name))
	if err != nil {
		return nil, err
	}
	fill := strings.NewReplacer("CLASS", v.scratch, "NODE", v.node)
	var all []testPod
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		var p testPod
		if strings.HasPrefix(name, "refused") {
			p.rule, line, _ = strings.Cut(line, "|")
		}
		var patch string
		p.what, patch, _ = strings.Cut(line, "|")
		if p.pod, err = pod.bend(fill.Replace(patch)); err != nil {
			return nil, fmt.Errorf("%s: %w", p.what, err)
		}
		all = append(all, p)
	}
	return all, nil
}

// file reads a Pod of the core's. Its namespace goes, its classes become those that are there.
func (v *verifier) file(name string) (object, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var pod object
	if err := yaml.Unmarshal(text, &pod); err != nil {
		return nil, err
	}
	metadata, _ := pod["metadata"].(map[string]any)
	spec, _ := pod["spec"].(map[string]any)
	if metadata == nil || spec == nil {
		return nil, fmt.Errorf("no Pod")
	}
	delete(metadata, "namespace")
	for _, class := range []string{"runtimeClassName", "priorityClassName"} {
		if _, ok := spec[class]; ok {
			spec[class] = v.scratch
		}
	}
	return pod, nil
}
