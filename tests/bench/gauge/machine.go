// SPDX-License-Identifier: Apache-2.0

package gauge

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

const ticks = 100 // a second, in /proc: USER_HZ

// Timed gives the seconds that do takes.
func Timed(do func() error) (float64, error) {
	begun := time.Now()
	err := do()
	return time.Since(begun).Seconds(), err
}

// Busy is the CPU time that the machine has worked since it was started, in seconds.
func Busy() float64 {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	fields := strings.Fields(strings.SplitN(string(text), "\n", 2)[0])[1:]
	sum := 0.0
	for i, field := range fields {
		if i == 3 || i == 4 || i > 7 { // idle, iowait; guests are in user
			continue
		}
		n, _ := strconv.ParseFloat(field, 64)
		sum += n
	}
	return sum / ticks
}

// Rate is the CPU that the machine uses while nothing is asked of it, in seconds per second: it looks for so long.
func Rate(look time.Duration) float64 {
	before, begun := Busy(), time.Now()
	time.Sleep(look)
	return (Busy() - before) / time.Since(begun).Seconds()
}

// Quiet waits until three seconds one after another are alike and have little work in them, which is when what ran before
// has ended and nothing else runs, and gives their rate; after the limit it gives the last ones' rate and an error that
// names it.
func Quiet(limit time.Duration) (float64, error) {
	return quiet(limit, func() float64 { return Rate(time.Second) })
}

// idle is more than a one-machine cluster uses of the cpus with nothing asked of it: 0.1 to 0.3.
const idle = 0.5

func quiet(limit time.Duration, look func() float64) (rate float64, err error) {
	const alike = 0.1
	var last []float64
	for end := time.Now().Add(limit); ; {
		last = append(last, look())
		if len(last) < 3 {
			continue
		}
		last = last[len(last)-3:]
		rate = (last[0] + last[1] + last[2]) / 3
		if rate < idle && slices.Max(last)-slices.Min(last) < alike {
			return rate, nil
		}
		if time.Now().After(end) {
			return rate, fmt.Errorf("the machine is not quiet after %s: it uses %.2f cpus with nothing asked of it", limit, rate)
		}
	}
}

// Machine names what is measured on.
func Machine() string {
	text := func(name string, args ...string) string {
		out, err := exec.Command(name, args...).Output()
		if err != nil {
			return "unknown"
		}
		return strings.TrimSpace(string(out))
	}
	load := "unknown"
	if fields, err := os.ReadFile("/proc/loadavg"); err == nil {
		load = strings.Fields(string(fields))[0]
	}
	return fmt.Sprintf("%s, %s cpus (%s), Linux %s, load %s before the first row; %s; Kubernetes %s", time.Now().Format(time.DateOnly), text("nproc"), model(),
		text("uname", "-r"), load, text("scontrol", "--version"), strings.TrimPrefix(text("kubelet", "--version"), "Kubernetes "))
}

func model() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for _, line := range strings.Split(string(text), "\n") {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}
