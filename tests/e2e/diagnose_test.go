// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// telling are the daemons whose logs a person would ask for.
var telling = []string{"slurmstepd-n1", "slurmstepd-n2", "slurmctld", "kubelet-real1", "kubelet-real2", "containerd-real1", "containerd-real2"}

// diagnose is what a person would ask for when a script failed.
func (w *world) diagnose() string {
	var b strings.Builder
	show := func(title, text string) {
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(&b, "---- %s\n%s\n", title, text)
		}
	}
	command := func(name string, args ...string) {
		out, err := run(20*time.Second, name, args...)
		if err != nil {
			out += err.Error()
		}
		show(name+" "+strings.Join(args, " "), out)
	}
	jobs := w.records()
	if len(jobs) > 3 { // those that were submitted last
		jobs = jobs[len(jobs)-3:]
	}
	for _, job := range jobs {
		id := job["JobId"]
		command("scontrol", "show", "job", "-d", id)
		command("sacct", "-D", "-j", id, "-P", "-o", "JobID,State,ExitCode,Start,End,Reason,AdminComment")
		if pods, err := podsOf(id); err != nil || len(pods) > 0 {
			command("kubectl", "-n", namespace, "get", "pod", "-l", "job-id="+id, "-o", `jsonpath={range .items[*]}{.metadata.name}{" deleted:"}{.metadata.deletionTimestamp}{"\n"}{.metadata.labels}{"\n"}{.metadata.annotations}{"\n"}{.status}{"\n"}{end}`)
		}
		command("kubectl", "-n", namespace, "get", "events", "--field-selector", "involvedObject.name=slurm-job-"+id, "--sort-by=.lastTimestamp", "-o", `custom-columns=LAST:.lastTimestamp,REASON:.reason,MESSAGE:.message`, "--no-headers")
		for _, key := range []string{"StdOut", "StdErr"} {
			if text, err := os.ReadFile(job[key]); err == nil && (key == "StdOut" || job["StdErr"] != job["StdOut"]) {
				show("the end of "+job[key], tail(string(text), 15))
			}
		}
		about := regexp.MustCompile(`\b(?i:job|jobid|slurm-job)[ =\-]` + id + `\b|\[` + id + `\.`)
		for _, name := range telling {
			show(name+".log about job "+id, tail(grep(logOf(name), about), 25))
		}
	}
	command("sinfo", "-N", "-o", "%N %T %E")
	for _, name := range telling {
		show("the end of "+name+".log", tail(logOf(name), 4))
	}
	return b.String()
}

// logOf is the last megabyte of a daemon's log.
func logOf(name string) string {
	file, err := os.Open(filepath.Join(lab.Dir, "log", name+".log"))
	if err != nil {
		return ""
	}
	defer file.Close()
	text := make([]byte, 1<<20)
	from := int64(0)
	if info, err := file.Stat(); err == nil && info.Size() > int64(len(text)) {
		from = info.Size() - int64(len(text))
	}
	n, _ := file.ReadAt(text, from)
	return string(text[:n])
}

func grep(text string, re *regexp.Regexp) string {
	var b strings.Builder
	for _, line := range strings.Split(text, "\n") {
		if re.MatchString(line) {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// tail is the last lines of a text, long ones cut.
func tail(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(all) > lines {
		all = all[len(all)-lines:]
	}
	for i, line := range all {
		if len(line) > 400 {
			all[i] = line[:400] + "..."
		}
	}
	return strings.Join(all, "\n")
}
