// SPDX-License-Identifier: Apache-2.0

// Package internal holds the test of the layers alone.
package internal

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/slurm-k8s/slurm-k8s/gocore/internal/"

// The layers of docs/architecture.md (Inside the core), lowest first: a pure package may import those before it,
// adapters and lifecycle the pure ones and the stream, what a command does (useCases)
// those and the adapters, and nothing else of ours. Only core knows all.
var (
	pure     = []string{"wellknown", "site", "option", "job", "podspec", "tenant", "podstatus", "report"}
	adapters = []string{"kube", "stream", "registry", "identity", "turn"}
	useCases = []string{"submission", "collector", "doctor"}
)

// notPure is what a pure package may not import, by prefix: I/O and processes.
var notPure = []string{"k8s.io/client-go", "os/exec", "net", "crypto/tls", "google.golang.org/grpc"}

// pureButNet are packages below a forbidden path, or that import one, without any I/O.
var pureButNet = []string{"net/netip", "net/url"}

// mayBeBelow says which of our packages each may import.
func mayBeBelow(name string) []string {
	switch {
	case name == "lifecycle": // on interfaces; the stream's frames are its language
		return append(slices.Clone(pure), "stream")
	case slices.Contains(adapters, name):
		return append(slices.Clone(pure), "stream")
	case slices.Contains(useCases, name):
		return slices.Concat(pure, adapters)
	case slices.Contains(pure, name):
		return pure[:slices.Index(pure, name)]
	}
	return nil // a package of its own above: unchecked
}

func TestLayers(t *testing.T) {
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	seen := 0
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		name := entry.Name()
		below := mayBeBelow(name)
		if below == nil && !slices.Contains(pure, name) {
			continue
		}
		for path, file := range imports(t, name) {
			seen++
			if ours, found := strings.CutPrefix(path, module); found {
				first, _, _ := strings.Cut(ours, "/")
				assert.Truef(t, first == name || slices.Contains(below, first), "%s imports %s, which is not below it", file, path)
			}
			if slices.Contains(pure, name) {
				assert.Falsef(t, forbidden(path), "%s is pure and imports %s", file, path)
			}
			assert.NotEqualf(t, "C", path, "%s: only package main of gocore imports C", file)
		}
	}
	assert.Positive(t, seen)
}

// TestForbidden: the list means what it says.
func TestForbidden(t *testing.T) {
	for path, want := range map[string]bool{
		"net": true, "net/http": true, "net/url": false, "network": false, "os/exec": true, "os": false,
		"k8s.io/client-go/rest": true, "k8s.io/api/core/v1": false,
	} {
		assert.Equal(t, want, forbidden(path), path)
	}
}

func forbidden(path string) bool {
	return !slices.Contains(pureButNet, path) && slices.ContainsFunc(notPure, func(p string) bool {
		return path == p || strings.HasPrefix(path, p+"/")
	})
}

// imports of a package's own files and of those below it, tests left out.
func imports(t *testing.T, directory string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(directory, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			found[imported] = path
		}
		return nil
	})
	require.NoError(t, err)
	return found
}
