// SPDX-License-Identifier: Apache-2.0

package submission

import (
	"strings"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
)

// parseMemory reads Slurm's amounts of memory ("4G", "1500", "2T", "512K", "0") in MiB; K is
// rounded up, as Slurm does. Whatever the unit, 0 is the whole node.
func parseMemory(text string) (mib int64, ok bool) {
	text = strings.TrimSpace(text)
	digits := strings.TrimRight(text, "kKmMgGtTpP?bB")
	n, ok := parseCount(digits)
	if !ok || digits == "" || digits[len(digits)-1] < '0' || digits[len(digits)-1] > '9' {
		return 0, false
	}
	unit := strings.ToUpper(text[len(digits):])
	if n == 0 && len(unit) <= 2 {
		return 0, true
	}
	switch strings.TrimSuffix(unit, "B") {
	case "K":
		return (n + 1023) / 1024, true
	case "":
		return n, unit == ""
	case "M":
		return n, true
	case "G":
		return n << 10, true
	case "T":
		return n << 20, true
	case "P":
		return n << 30, true
	}
	return 0, false
}

// parseGRES reads --gres: "gpu:2", "gpu:a100:2", "gpu", "shard:4". A part that is not
// understood here is left out: Slurm itself refuses what it does not understand either.
func parseGRES(text string) []job.GRES { return parseEach(text, "") }

// parseGPUs reads --gpus and its kin: "2", "a100:2", "a100:1,v100:1".
func parseGPUs(text string) []job.GRES { return parseEach(text, "gpu:") }

func parseEach(text, prefix string) []job.GRES {
	var list []job.GRES
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		some, err := job.ParseGRES(prefix + strings.ReplaceAll(part, "=", ":"))
		if err != nil {
			continue
		}
		for _, one := range some {
			if one.Count <= maxCount {
				list = append(list, one)
			}
		}
	}
	return list
}
