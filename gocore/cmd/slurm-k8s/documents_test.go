// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadmeHasTheHelp(t *testing.T) {
	readme, err := os.ReadFile("../../../README.md")
	require.NoError(t, err)
	_, help, _ := call(t, "--help")
	assert.Contains(t, string(readme), "$ slurm-k8s --help\n"+help)
}

// The options of validate are in its own section of the manual alone, which render's names.
func TestManualHasEveryOption(t *testing.T) {
	page, err := os.ReadFile("../../../man/slurm-k8s.1")
	require.NoError(t, err)
	sections := map[string]string{}
	for _, text := range strings.Split(strings.ReplaceAll(string(page), `\-`, "-"), "\n.SS ")[1:] {
		name, text, _ := strings.Cut(text, "\n")
		sections[name] = text
	}
	flag := regexp.MustCompile(`(?m)^  (--[a-z0-9-]+)`)
	for _, c := range commands() {
		section, found := sections[c.name]
		assert.True(t, found, c.name)
		if c.name == "render" {
			section += sections["validate"]
		}
		_, help, _ := call(t, c.name, "--help")
		for _, option := range flag.FindAllStringSubmatch(help, -1) {
			assert.Regexp(t, `(?m)^\.BI? `+option[1]+`(=|$)`, section, c.name)
		}
	}
}
