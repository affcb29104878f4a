// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// record is one job as scontrol shows it, a key for each field.
type record map[string]string

var fieldKey = regexp.MustCompile(`(?:^| )([A-Z][A-Za-z/:]*)=`)

// jobRecords is the job, or an array's tasks each, as slurmctld shows them.
func jobRecords(id string) ([]record, error) {
	out, err := run(20*time.Second, "scontrol", "show", "job", "-o", "-d", id)
	if err != nil {
		return nil, err
	}
	var records []record
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		r := record{}
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

// terminal states: the job has ended and its nodes are free of it.
var terminal = map[string]bool{
	"COMPLETED": true, "FAILED": true, "CANCELLED": true, "TIMEOUT": true, "OUT_OF_MEMORY": true,
	"NODE_FAIL": true, "PREEMPTED": true, "BOOT_FAIL": true, "DEADLINE": true,
}

func (r record) String() string {
	return fmt.Sprintf("job %s is %s (reason %s, exit code %s, restarts %s)", r["JobId"], r["JobState"], r["Reason"], r["ExitCode"], r["Restarts"])
}

// accounting is one field of the job's record in slurmdbd, a line for each incarnation.
func accounting(id, field string) (string, error) {
	out, err := run(20*time.Second, "sacct", "-X", "-n", "-P", "-D", "-j", id, "-o", field)
	return strings.TrimSpace(out), err
}

// until asks until the answer is yes; false after the limit.
func until(limit time.Duration, yes func() bool) bool {
	end := time.Now().Add(limit)
	for {
		if yes() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
		time.Sleep(200 * time.Millisecond)
	}
}
