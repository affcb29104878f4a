// SPDX-License-Identifier: Apache-2.0

package gauge

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Log is a log file from a moment on, read while it grows.
type Log struct {
	path string
	file os.FileInfo // at the moment
	from int64
}

// MarkLog remembers where a log ends now.
func MarkLog(path string) (*Log, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	return &Log{path: path, file: info, from: info.Size()}, nil
}

// Text is what was written since, whole lines alone; over a rotation too, if the older file has the newer's name and more
// before its ending.
func (l *Log) Text() ([]byte, error) {
	ending := filepath.Ext(l.path)
	older, _ := filepath.Glob(strings.TrimSuffix(l.path, ending) + "-*" + ending) // sorted, and named by their time
	var text []byte
	found := false
	for _, path := range append(older, l.path) {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		from := int64(0)
		if os.SameFile(info, l.file) {
			found, from = true, l.from
		}
		if !found {
			continue
		}
		more, err := readFrom(path, from)
		if err != nil {
			return nil, err
		}
		text = append(text, more...)
	}
	if !found {
		return nil, fmt.Errorf("%s is not the file that it was", l.path)
	}
	return text[:bytes.LastIndexByte(text, '\n')+1], nil
}

func readFrom(path string, offset int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(file)
}

// Lines are those that contain all the words.
func (l *Log) Lines(words ...string) ([]string, error) {
	text, err := l.Text()
	return linesWith(text, words), err
}

func linesWith(text []byte, words []string) (lines []string) {
next:
	for line := range bytes.Lines(text) {
		for _, word := range words {
			if !bytes.Contains(line, []byte(word)) {
				continue next
			}
		}
		lines = append(lines, string(bytes.TrimSpace(line)))
	}
	return lines
}

// Await gives the first line that contains all the words, as soon as it is there. Nobody is asked and nothing read twice, so
// that waiting costs next to nothing.
func (l *Log) Await(limit time.Duration, words ...string) (string, error) {
	at := *l
	for end := time.Now().Add(limit); ; time.Sleep(10 * time.Millisecond) {
		text, err := at.Text()
		if err != nil {
			return "", err
		}
		if lines := linesWith(text, words); len(lines) > 0 {
			return lines[0], nil
		}
		if info, err := os.Stat(at.path); err == nil && os.SameFile(info, at.file) {
			at.from += int64(len(text))
		}
		if time.Now().After(end) {
			return "", fmt.Errorf("no line with %q in %s after %s", words, l.path, limit)
		}
	}
}

// Stamp is the time at the begin of a line of Slurm's, in this machine's zone: [2026-01-31T12:00:00.123].
func Stamp(line string) (time.Time, error) {
	text, _, _ := strings.Cut(strings.TrimPrefix(line, "["), "]")
	return time.ParseInLocation("2006-01-02T15:04:05.000", text, time.Local)
}
