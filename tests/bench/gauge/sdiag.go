// SPDX-License-Identifier: Apache-2.0

package gauge

import (
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

var diagLine = regexp.MustCompile(`^\s*(REQUEST_\w+|MESSAGE_\w+)\s+\(\s*\d+\)\s+count:(\d+)`)

// Slurmctld is how many requests of each type it has got, as sdiag tells.
func Slurmctld() (map[string]float64, error) {
	out, err := exec.Command("sdiag").Output()
	return slurmctldCounts(string(out)), err
}

func slurmctldCounts(sdiag string) map[string]float64 {
	counts := map[string]float64{}
	for _, text := range strings.Split(sdiag, "\n") {
		if m := diagLine.FindStringSubmatch(text); m != nil {
			if _, seen := counts[m[1]]; !seen { // by type comes first, by user behind it
				counts[m[1]], _ = strconv.ParseFloat(m[2], 64)
			}
		}
	}
	delete(counts, "REQUEST_STATS_INFO") // sdiag's own
	return counts
}
