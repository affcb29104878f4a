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

// Await gives the first line that contains all the words, as soon as it is there.
func (l *Log) Await(limit time.Duration, words ...string) (string, error) {
	lines, err := l.AwaitSome(limit, 1, words...)
	if err != nil {
		return "", err
	}
	return lines[0], nil
}

// AwaitSome waits until there are so many. Nobody is asked and nothing read twice, so that waiting costs next to nothing.
func (l *Log) AwaitSome(limit time.Duration, count int, words ...string) (lines []string, err error) {
	at := *l
	for end := time.Now().Add(limit); ; time.Sleep(10 * time.Millisecond) {
		text, err := at.Text()
		if err != nil {
			return nil, err
		}
		there := append(lines, linesWith(text, words)...)
		if len(there) >= count {
			return there, nil
		}
		if info, err := os.Stat(at.path); err == nil && os.SameFile(info, at.file) { // not rotated since
			at.from += int64(len(text))
			lines = there
		}
		if time.Now().After(end) {
			return there, fmt.Errorf("%d lines, not %d, with %q in %s after %s", len(there), count, words, l.path, limit)
		}
	}
}

// Stamp is the time at the begin of a line of Slurm's, in this machine's zone: [2026-01-31T12:00:00.123].
func Stamp(line string) (time.Time, error) {
	text, _, _ := strings.Cut(strings.TrimPrefix(line, "["), "]")
	return time.ParseInLocation("2006-01-02T15:04:05.000", text, time.Local)
}
