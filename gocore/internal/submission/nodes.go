// SPDX-License-Identifier: Apache-2.0

package submission

import (
	"strconv"
	"strings"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
)

// nodeRange is what --nodes asks for. max is 0 where it is open.
type nodeRange struct{ min, max int64 }

// maxCount bounds every number a user can give: products of two stay far below 2^63.
const maxCount = 1 << 30

// parseNodes reads --nodes: "2", "1-4", "1-0" (Slurm's print of nothing given), "1k", and
// the lists of newer releases ("1,3-5", "2-8:2"), of which it returns the hull.
func parseNodes(text string) (nodeRange, bool) {
	var hull nodeRange
	for n, part := range strings.Split(text, ",") {
		part, _, _ = strings.Cut(part, ":")
		low, high, isRange := strings.Cut(part, "-")
		first, ok := parseCount(low)
		if !ok {
			return nodeRange{}, false
		}
		last := first
		if isRange {
			if last, ok = parseCount(high); !ok {
				return nodeRange{}, false
			}
		}
		if last != 0 && last < first {
			return nodeRange{}, false
		}
		if n == 0 {
			hull = nodeRange{first, last}
			continue
		}
		hull.min = min(hull.min, first)
		if hull.max == 0 || last == 0 {
			hull.max = 0
		} else {
			hull.max = max(hull.max, last)
		}
	}
	return hull, true
}

// parseCount reads a count with Slurm's suffixes k (1024) and m (1024*1024).
func parseCount(text string) (int64, bool) {
	text = strings.TrimSpace(text)
	factor := int64(1)
	switch {
	case strings.HasSuffix(text, "k"), strings.HasSuffix(text, "K"):
		factor, text = 1<<10, text[:len(text)-1]
	case strings.HasSuffix(text, "m"), strings.HasSuffix(text, "M"):
		factor, text = 1<<20, text[:len(text)-1]
	}
	if text == "" || text[0] < '0' || text[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n > maxCount/factor {
		return 0, false
	}
	return n * factor, true
}

// checkNodes refuses a script in a Pod on more than one node where the site offers no srun in
// Pods: it would get the first node's share of an allocation whose rest stands idle.
func checkNodes(r Request, config *site.Config) []finding {
	if r.leavesScript() || config.Commands.Allow == site.CommandsAll {
		return nil
	}
	text, given := r.given("nodes")
	asked, ok := parseNodes(text)
	switch {
	case !given || !ok, asked.min <= 1 && asked.max == 0:
		if tasks, _ := r.count("ntasks"); tasks > 1 {
			return []finding{warning("--ntasks: Slurm may spread the tasks over several nodes, and the Pod of the script has the first one's share alone: \"%d\" (add --nodes=1)", tasks)}
		}
		return nil
	case asked.min > 1:
		return []finding{fault("--nodes: the script runs in one Pod, which is on one node: %s (use --nodes=1, or --k8s-scope=steps, which leaves the script on the Slurm node and runs its srun steps in Pods)", quote(text))}
	case asked.max > 1:
		return []finding{fault("--nodes: Slurm could give more than the one node on which the script's Pod is: %s (use --nodes=1, or --k8s-scope=steps)", quote(text))}
	}
	return nil
}

// count returns one of Slurm's options that is a number above 0.
func (r Request) count(name string) (int64, bool) {
	text, ok := r.given(name)
	if !ok {
		return 0, false
	}
	n, ok := parseCount(text)
	return n, ok && n > 0
}
