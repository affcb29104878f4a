// SPDX-License-Identifier: Apache-2.0

package site

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"sigs.k8s.io/yaml"
)

// maxBytes bounds the file: it is read by root in every slurmstepd with a Pod.
const maxBytes = 1 << 20

// Load reads and checks the file. It must be a regular file of root's that nobody else
// may write, since it says where root's credential lies. Every fault is a line of the error.
func Load(path string) (*Config, error) { return load(path, 0) }

// load is Load with the uid that must own the file.
func load(path string, owner uint32) (*Config, error) {
	// One open, checked by its descriptor; NONBLOCK so that a FIFO cannot hang us.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := checkFile(f, owner, 0o022); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	config, err := Parse(data)
	if err != nil {
		return nil, prefixed(path, err)
	}
	return config, nil
}

// Parse is Load for the file's bytes.
func Parse(data []byte) (*Config, error) {
	if len(data) > maxBytes {
		return nil, fmt.Errorf("larger than %d bytes", maxBytes)
	}
	if err := oneDocument(data); err != nil {
		return nil, err
	}
	tree := map[string]any{}
	if err := yaml.UnmarshalStrict(data, &tree); err != nil {
		return nil, oneLine(err)
	}
	if err := unknownKeys(tree); err != nil {
		return nil, err
	}
	config := Default()
	config.Resources.GRES = nil // else the file's table would be added to the default one
	if err := yaml.UnmarshalStrict(data, config); err != nil {
		return nil, oneLine(err)
	}
	if config.Resources.GRES == nil {
		config.Resources.GRES = defaultGRES()
	}
	if err := config.Validate(); err != nil {
		return nil, err
	}
	return config, nil
}

// oneDocument refuses what the YAML library would skip in silence.
func oneDocument(data []byte) error {
	content := false
	for n, line := range bytes.Split(data, []byte("\n")) {
		line = bytes.TrimRight(line, " \t\r")
		if bytes.Equal(line, []byte("---")) || bytes.Equal(line, []byte("...")) {
			if content {
				return fmt.Errorf("line %d: a second document in the file would not be read", n+1)
			}
			continue
		}
		if text := bytes.TrimSpace(line); len(text) > 0 && text[0] != '#' {
			content = true
		}
	}
	return nil
}

// oneLine drops what the libraries wrap around their cause.
func oneLine(err error) error {
	text := err.Error()
	for _, wrap := range []string{
		"error converting YAML to JSON: ", "error unmarshaling JSON: ", "while decoding JSON: ", "yaml: ", "json: ",
	} {
		text = strings.TrimPrefix(text, wrap)
	}
	return errors.New(strings.Join(strings.Fields(text), " "))
}

// prefixed puts the path before every line of err.
func prefixed(path string, err error) error {
	lines := strings.Split(err.Error(), "\n")
	for i := range lines {
		lines[i] = path + ": " + lines[i]
	}
	return errors.New(strings.Join(lines, "\n"))
}
