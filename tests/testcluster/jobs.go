// SPDX-License-Identifier: Apache-2.0

package testcluster

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Record is one job as scontrol shows it, a key for each field.
type Record map[string]string

var fieldKey = regexp.MustCompile(`(?:^| )([A-Z][A-Za-z/:]*)=`)

// Records is the job, or an array's tasks each, as slurmctld shows them; "": all that it knows.
func Records(id string) ([]Record, error) {
	args := []string{"show", "job", "-o", "-d"}
	if id != "" {
		args = append(args, id)
	}
	out, err := Run(20*time.Second, "scontrol", args...)
	if err != nil {
		return nil, err
	}
	var records []Record
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		r := Record{}
		keys := fieldKey.FindAllStringSubmatchIndex(line, -1)
		for i, k := range keys {
			end := len(line)
			if i+1 < len(keys) {
				end = keys[i+1][0]
			}
			if name := line[k[2]:k[3]]; r[name] == "" {
				r[name] = strings.TrimSpace(line[k[1]:end])
			}
		}
		records = append(records, r)
	}
	return records, nil
}

// Terminal states: the job has ended and its nodes are free of it.
var Terminal = map[string]bool{
	"COMPLETED": true, "FAILED": true, "CANCELLED": true, "TIMEOUT": true, "OUT_OF_MEMORY": true,
	"NODE_FAIL": true, "PREEMPTED": true, "BOOT_FAIL": true, "DEADLINE": true,
}

func (r Record) String() string {
	return fmt.Sprintf("job %s is %s (reason %s, exit code %s, restarts %s)", r["JobId"], r["JobState"], r["Reason"], r["ExitCode"], r["Restarts"])
}
