// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// entry is one line that a task's process has sent.
type entry struct {
	at    time.Time
	event string // begin, beat, end
	job   int
	run   int    // SLURM_RESTART_COUNT
	step  string // "batch", or its number
	task  int
	word  string // of the process, drawn by itself
	node  string // the Kubernetes node it came from
}

// ledger is what the jobs' processes say of themselves, in the order in which it came: a process goes on only
// when its begin or end has been written down.
type ledger struct {
	port     int
	net      string // first part of the Pods' addresses, with the nodes' numbers after it
	listener net.Listener
	file     *os.File

	mu      sync.Mutex
	entries []entry
	bad     []string
}

func openLedger(prefix, file string) (*ledger, error) {
	out, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	// The nodes' bridges come and go, so the port is open on every address; strangers are turned away.
	listener, err := net.Listen("tcp4", ":0")
	if err != nil {
		return nil, err
	}
	l := &ledger{listener: listener, file: out, net: prefix, port: listener.Addr().(*net.TCPAddr).Port}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go l.serve(conn)
		}
	}()
	return l, nil
}

func (l *ledger) serve(conn net.Conn) {
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	from := conn.RemoteAddr().(*net.TCPAddr).IP.String()
	if !strings.HasPrefix(from, l.net) {
		return
	}
	line, err := bufio.NewReaderSize(conn, 512).ReadString('\n')
	if err != nil {
		return
	}
	e := entry{at: time.Now(), node: "real" + from[len(l.net):len(l.net)+1]}
	var job, run, task string
	if n, _ := fmt.Sscan(line, &e.event, &job, &run, &e.step, &task, &e.word); n == 6 {
		e.job, _ = strconv.Atoi(job)
		e.run, _ = strconv.Atoi(run)
		e.task, _ = strconv.Atoi(task)
	}
	l.mu.Lock()
	if e.job == 0 {
		l.bad = append(l.bad, line)
	} else if !l.repeated(e) {
		l.entries = append(l.entries, e)
		fmt.Fprintf(l.file, "%s %s %s", e.at.Format("15:04:05.000"), e.node, line)
	}
	l.mu.Unlock()
	fmt.Fprintln(conn, "ok")
}

// repeated: the answer did not reach a process, which has asked again.
func (l *ledger) repeated(e entry) bool {
	if e.event == "beat" {
		return false
	}
	for i := len(l.entries) - 1; i >= 0; i-- {
		if l.entries[i].word == e.word && l.entries[i].event == e.event {
			return true
		}
	}
	return false
}

// forget drops what was noted so far.
func (l *ledger) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = nil
}

func (l *ledger) all() []entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]entry(nil), l.entries...)
}

func (l *ledger) begun(job int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.entries {
		if l.entries[i].job == job {
			return true
		}
	}
	return false
}
