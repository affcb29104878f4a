// SPDX-License-Identifier: Apache-2.0

package gauge

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Memory of one process or of several, in MB (10^6 bytes).
type Memory struct {
	Anonymous float64 // its own, which nobody can share or drop
	Share     float64 // all of it, with its share of what several have in common: Pss
}

// MemoryOf sums up processes; one that is gone counts nothing.
func MemoryOf(pids ...int) (sum Memory) {
	for _, pid := range pids {
		file, err := os.Open(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			continue
		}
		for lines := bufio.NewScanner(file); lines.Scan(); {
			words := strings.Fields(lines.Text())
			if len(words) != 3 {
				continue
			}
			kilobytes, _ := strconv.ParseFloat(words[1], 64)
			switch words[0] {
			case "Anonymous:":
				sum.Anonymous += kilobytes * 1024 / 1e6
			case "Pss:":
				sum.Share += kilobytes * 1024 / 1e6
			}
		}
		file.Close()
	}
	return sum
}

// Peak looks at processes again and again until it is stopped.
type Peak struct {
	stop chan struct{}
	done sync.WaitGroup
	most Memory
	cpu  float64
}

// WatchPeak looks at once and then every so often at the processes that there are then. It costs CPU itself: time nothing meanwhile.
func WatchPeak(every time.Duration, pids func() []int) *Peak {
	p := &Peak{stop: make(chan struct{})}
	p.done.Go(func() {
		again := time.NewTicker(every)
		defer again.Stop()
		for {
			now := pids()
			m := MemoryOf(now...)
			p.most.Anonymous, p.most.Share = max(p.most.Anonymous, m.Anonymous), max(p.most.Share, m.Share)
			p.cpu = max(p.cpu, CPU(now...))
			select {
			case <-p.stop:
				return
			case <-again.C:
			}
		}
	})
	return p
}

// Stop ends it and gives the most memory that the processes had together, and the most CPU time that was seen of them together.
func (p *Peak) Stop() (Memory, float64) {
	close(p.stop)
	p.done.Wait()
	return p.most, p.cpu
}
