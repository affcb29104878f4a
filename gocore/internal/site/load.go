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
)

// maxBytes bounds the file: it is read by root in every slurmstepd with a Pod.
const maxBytes = 1 << 20

// Load reads and checks the file. It must be a regular file of root's that nobody else
// may write, since it says where root's credential lies. Every fault is a line of the error.
func Load(path string) (*Config, error) { return load(path, 0) }

// load is Load with the uid that must own the file.
func load(path string, owner uint32) (*Config, error) {
	data, unsafe, err := read(path, owner)
	if err = errors.Join(err, unsafe); err != nil {
		return nil, err
	}
	config, faults := Check(data)
	if len(faults) == 0 {
		config.takeNamespace(data)
		if err := config.Validate(); err != nil { // what was read beside the file
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return config, nil
	}
	lines := make([]string, len(faults))
	for i, fault := range faults {
		lines[i] = fault.At(path)
	}
	return nil, errors.New(strings.Join(lines, "\n"))
}

// Read reads the file for Check; unsafe says why Load would refuse it for its owner or mode.
func Read(path string) (data []byte, unsafe, err error) { return read(path, 0) }

func read(path string, owner uint32) (data []byte, unsafe, err error) {
	// One open, checked by its descriptor; NONBLOCK so that a FIFO cannot hang us.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	unsafe = checkFile(f, owner, 0o022)
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, nil, errors.Join(err, unsafe)
	}
	data, err = io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return data, unsafe, nil
}

// oneDocument refuses what the YAML library would skip in silence.
func oneDocument(data []byte) *Fault {
	content := false
	for n, line := range bytes.Split(data, []byte("\n")) {
		line = bytes.TrimRight(line, " \t\r")
		if bytes.Equal(line, []byte("---")) || bytes.Equal(line, []byte("...")) {
			if content {
				return &Fault{Line: n + 1, Text: "a second document in the file would not be read"}
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
