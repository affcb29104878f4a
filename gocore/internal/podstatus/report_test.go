// SPDX-License-Identifier: Apache-2.0

package podstatus

import (
	"reflect"
	"strings"
	"testing"
)

// FuzzParseReport: the tasks can write the termination message. What is made of it holds no
// contradiction, does not depend on what comes before a broken line, and is none where it is too long.
func FuzzParseReport(f *testing.F) {
	f.Add("task=0 status=256 oom=0\ntask=1 status=9 oom=2 user=1\n")
	f.Add("orphaned\ntask=0 status=15 oom=0")
	f.Add("never started\n")
	f.Add("orphaned\nusage utime=1 stime=2 peak=3\ntask=0 status=256 oom=1 utime=1 stime=2 peak=3\n")
	f.Add("usage utime=72057594037927936 stime=0 peak=9007199254740992\ntask=0 status=0")
	f.Add("status=4294967295 oom=4294967296")
	f.Fuzz(func(t *testing.T, message string) {
		r, ok := ParseReport(message)
		if ok != (r.Told || r.Orphaned || r.NeverStarted) || r.Told && r.NeverStarted {
			t.Fatalf("%+v, %v", r, ok)
		}
		if !r.Told && (r.Status != 0 || r.OOMKills != 0) {
			t.Fatalf("numbers of nobody: %+v", r)
		}
		if ok && len(message) > maxReport {
			t.Fatal("a report of more than Kubernetes keeps")
		}
		if _, bad := ParseReport("status=x\n" + message); bad {
			t.Fatal("a report with a number that is none")
		}
		if again, _ := ParseReport(message + "\nunknown word=1\n"); ok && len(message) < maxReport-20 && !reflect.DeepEqual(again, r) && !strings.HasSuffix(message, "=") {
			t.Fatalf("a line of a newer podinit changes %+v to %+v", r, again)
		}
		if u := r.Usage; u != nil && (u.UserMS > maxMicros/1000 || u.SystemMS > maxMicros/1000 || u.PeakBytes > maxPeak) {
			t.Fatalf("numbers that no tasks reach: %+v", u)
		}
	})
}
