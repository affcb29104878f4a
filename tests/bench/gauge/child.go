// SPDX-License-Identifier: Apache-2.0

package gauge

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// PeakOf runs a program and gives the most memory that it had, in MB, files included. wait4's maxrss does not tell: it begins
// with that of the process which called exec. So the program is looked at each millisecond; what it takes in its very last
// one is not seen.
func PeakOf(command *exec.Cmd) (peak float64, err error) {
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	if err := command.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	often := time.NewTicker(time.Millisecond)
	defer often.Stop()
	for {
		peak = max(peak, highWater(command.Process.Pid))
		select {
		case err := <-ended:
			if err != nil {
				return peak, fmt.Errorf("%s: %w: %s", strings.Join(command.Args, " "), err, bytes.TrimSpace(out.Bytes()))
			}
			return peak, nil
		case <-often.C:
		}
	}
}

// highWater is a process's VmHWM in MB.
func highWater(pid int) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "VmHWM:" {
			kilobytes, _ := strconv.ParseFloat(words[1], 64)
			return kilobytes * 1024 / 1e6
		}
	}
	return 0
}
