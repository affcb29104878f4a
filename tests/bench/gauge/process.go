// SPDX-License-Identifier: Apache-2.0

package gauge

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Pids are those of the processes whose command line, with blanks between its words, is of interest.
func Pids(of func(command string) bool) []int {
	var pids []int
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range all {
		text, _ := os.ReadFile(path)
		command := strings.TrimSpace(string(bytes.ReplaceAll(text, []byte{0}, []byte{' '})))
		if pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path))); command != "" && of(command) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Daemon is the pid of one of the tests' cluster's daemons, by the name that tests/cluster/status has for it.
func Daemon(cluster, name string) (int, error) {
	text, err := os.ReadFile(filepath.Join(cluster, "run", name+".pid"))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

// stat is what /proc says of a process behind its name, from its state on.
func stat(pid int) ([]string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 20 {
		return nil, fmt.Errorf("/proc/%d/stat has %d fields behind the name", pid, len(fields))
	}
	return fields, nil
}

// Tree are these processes and all below them.
func Tree(roots ...int) []int {
	below := map[int][]int{}
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, path := range all {
		pid, _ := strconv.Atoi(filepath.Base(path))
		if fields, err := stat(pid); err == nil {
			parent, _ := strconv.Atoi(fields[1])
			below[parent] = append(below[parent], pid)
		}
	}
	tree := slices.Clone(roots)
	for i := 0; i < len(tree); i++ {
		tree = append(tree, below[tree[i]]...)
	}
	return tree
}

// CPU is what these processes, and those below them that have ended and were waited for, have worked, in seconds. Of a process
// that is gone nothing is known, and nothing counted.
func CPU(pids ...int) float64 {
	sum := 0.0
	for _, pid := range pids {
		fields, err := stat(pid)
		if err != nil {
			continue
		}
		for _, field := range fields[11:15] { // utime stime cutime cstime
			n, _ := strconv.ParseFloat(field, 64)
			sum += n
		}
	}
	return sum / ticks
}

// Started is when a process began, in seconds since the machine was started, to a hundredth.
func Started(pid int) (float64, error) {
	fields, err := stat(pid)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseFloat(fields[19], 64)
	return n / ticks, err
}

// Threads of a process.
func Threads(pid int) (int, error) {
	fields, err := stat(pid)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(fields[17])
}

// Maps says whether a process has a file in its memory whose path contains the name.
func Maps(pid int, name string) (bool, error) {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err == nil && len(maps) == 0 {
		err = errors.New("the process has no memory any more")
	}
	return strings.Contains(string(maps), name), err
}
