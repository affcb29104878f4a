// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podstatus"
)

func TestSentences(t *testing.T) {
	fail := errors.New("one\ntwo")
	unscheduled := podstatus.Reading{Unschedulable: "0/1 nodes are available: 1 Insufficient cpu."}
	pulling := podstatus.Reading{State: podstatus.Starting, NodeName: "k1", Waiting: podstatus.Words{Reason: "ErrImagePull", Message: "no such host"},
		StartFault: &podstatus.StartFault{Class: podstatus.ClassRetry, Kind: podstatus.KindImagePull, Words: podstatus.Words{Reason: "ErrImagePull", Message: "no such host"}}}
	events := []corev1.Event{
		{Type: "Warning", Reason: "FailedMount", Message: "old", LastTimestamp: metav1.Unix(1, 0)},
		{Type: "Warning", Reason: "FailedMount", Message: "mount failed: exit status 32", LastTimestamp: metav1.Unix(3, 0)},
		{Type: "Normal", Reason: "Scheduled", LastTimestamp: metav1.Unix(9, 0)},
	}
	for want, got := range map[string]string{
		"slurm-k8s: internal fault: x (please report it; slurmd's log has more)":                                Internal("x"),
		"slurm-k8s: Slurm does not say what the job may have: one; two":                                         NoFacts(fail),
		"slurm-k8s: the job cannot run in a Pod: one; two":                                                      Refused(fail),
		"slurm-k8s: Pod p runs on Kubernetes node k1":                                                           Running("p", "k1"),
		"slurm-k8s: Pod p waits for room in the cluster [0/1 nodes are available: 1 Insufficient cpu.]":         Waiting("p", unscheduled),
		"slurm-k8s: Pod p waits on Kubernetes node k1: the image cannot be pulled [ErrImagePull: no such host]": Waiting("p", pulling),
		"slurm-k8s: there is no room in the cluster now [exceeded quota: lab]":                                  NoRoom("exceeded quota: lab"),
		"slurm-k8s: the job can never run in this cluster: no node has 9 cpus [0/1]":                            NeverFits("no node has 9 cpus", "0/1"),
		"slurm-k8s: the Pod was removed before the job started":                                                 Vanished(),
		"slurm-k8s: there is no room in the cluster now; the job goes back to PENDING for 10s [full [x]]":       PutBack(NoRoom("full [x]"), 10*time.Second),
		"slurm-k8s: the Pod was removed before the job started; the job goes back to PENDING":                   PutBack(Vanished(), 0),
		"slurm-k8s: the Pod's Kubernetes node is gone (node k1); the job is requeued [DeletionByPodGC]":         Requeued(Disrupted(podstatus.End{NodeName: "k1", Disruption: podstatus.Words{Reason: "DeletionByPodGC"}})),
		"slurm-k8s: the job could not be put back to PENDING, so it ends: one; two":                             NotRequeued(fail),
		"slurm-k8s: Kubernetes refuses the Pod [one two]":                                                       APIRefused(fail),
		"slurm-k8s: Kubernetes cannot be reached for 5m [one; two]":                                             APIUnreachable(5*time.Minute, fail),
		"slurm-k8s: the Pod did not start within 5m [FailedMount: mount failed: exit status 32]":                StartTimedOut(5*time.Minute, podstatus.Reading{State: podstatus.Starting}, events),
		"slurm-k8s: the Pod did not start within 5m: the image cannot be pulled [ErrImagePull: no such host]":   StartTimedOut(5*time.Minute, pulling, events),
		"slurm-k8s: there was no room in the cluster for 1h30m [0/1 nodes are available: 1 Insufficient cpu.]":  StartTimedOut(90*time.Minute, unscheduled, nil),
		"slurm-k8s: the container cannot be started":                                                            CannotStart(nil),
		"slurm-k8s: the Pod ended before the job was started in it":                                             EndedEarly(nil),
		"slurm-k8s: out of memory: the kernel killed 2 processes of the job (ask for more by --mem)":            OutOfMemory(2),
	} {
		assert.Equal(t, want, got)
	}
	assert.Empty(t, Waiting("p", podstatus.Reading{State: podstatus.Starting}))
	assert.NotEmpty(t, StillThere("p")+PredecessorAlive("p")+NoConnection(fail)+BadStream(fail))
	for kind := podstatus.KindUnknown; kind <= podstatus.KindNeverStarted; kind++ {
		assert.NotEmpty(t, kinds[kind], kind)
	}
}

func TestPretty(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 400 * time.Millisecond: "0s", 30 * time.Second: "30s", 5 * time.Minute: "5m", 90 * time.Second: "1m30s", 2 * time.Hour: "2h",
		10 * time.Minute: "10m", 20 * time.Hour: "20h", 110 * time.Minute: "1h50m", time.Hour + time.Second: "1h0m1s",
	} {
		assert.Equal(t, want, Pretty(d))
	}
}

func TestJudge(t *testing.T) {
	disruption := podstatus.Words{Reason: "PreemptionByScheduler", Message: "preempting"}
	terminated := func(e podstatus.End) podstatus.Reading {
		return podstatus.Reading{State: podstatus.Terminated, Disruption: e.Disruption, Deleting: e.Deleted, End: &e}
	}
	for name, c := range map[string]struct {
		reading  podstatus.Reading
		statuses []uint32
		kills    uint32
		want     Verdict
		reason   string
	}{
		"told, pod behind":       {podstatus.Reading{State: podstatus.Running}, []uint32{7 << 8}, 0, Verdict{Status: 256}, ""},
		"told ok":                {terminated(podstatus.End{Ran: true}), []uint32{0}, 0, Verdict{}, ""},
		"told oom":               {podstatus.Reading{State: podstatus.Running}, []uint32{0}, 1, Verdict{Status: 256, OutOfMemory: true}, "out of memory"},
		"told, preempted":        {podstatus.Reading{State: podstatus.Running, Disruption: disruption, Deleting: true}, []uint32{15}, 0, Verdict{Status: 256, Disrupted: true}, "preempted"},
		"well before preempted":  {podstatus.Reading{State: podstatus.Running, Disruption: disruption}, []uint32{0, 0}, 0, Verdict{Status: 256}, ""},
		"told, deleted":          {podstatus.Reading{State: podstatus.Running, Deleting: true}, []uint32{15}, 0, Verdict{Status: 256}, "deleted by somebody else"},
		"late core":              {terminated(podstatus.End{Ran: true, Code: 7, Report: &podstatus.Report{Status: 7 << 8}}), nil, 0, Verdict{Status: 7 << 8}, ""},
		"late core, oom":         {terminated(podstatus.End{Ran: true, Code: 137, Report: &podstatus.Report{Status: 9, OOMKills: 1}}), nil, 0, Verdict{Status: 9, OutOfMemory: true}, "a process"},
		"the fence":              {terminated(podstatus.End{Ran: true, Orphaned: true, Report: &podstatus.Report{Status: 15}}), nil, 0, Verdict{Status: 15}, "orphan_timeout"},
		"group oom":              {terminated(podstatus.End{Ran: true, Code: 137, Signal: 9, OOM: true}), nil, 0, Verdict{Status: 9, OutOfMemory: true}, "out of memory"},
		"evicted":                {terminated(podstatus.End{Ran: true, Code: 137, Signal: 9, OOM: true, Disruption: disruption}), nil, 0, Verdict{Status: 9, Disrupted: true}, "[PreemptionByScheduler: preempting]"},
		"deadline":               {terminated(podstatus.End{Ran: true, Code: 143, Signal: 15, Deadline: true}), nil, 0, Verdict{Status: 15}, "Kubernetes' own deadline"},
		"deleted":                {podstatus.Read(nil), nil, 0, Verdict{Status: 256}, "deleted by somebody else"},
		"podinit killed":         {terminated(podstatus.End{Ran: true, Code: 137, Signal: 9}), nil, 0, Verdict{Status: 9}, "killed by signal 9"},
		"podinit's own code":     {terminated(podstatus.End{Ran: true, Code: 3}), nil, 0, Verdict{Status: 3 << 8}, "ended with code 3"},
		"lost by its node":       {terminated(podstatus.End{Ran: true, Code: -1, Lost: true, NodeName: "n7"}), nil, 0, Verdict{Status: 256, Disrupted: true}, "has lost its container"},
		"lost, but it had ended": {terminated(podstatus.End{Ran: true, Code: -1, Lost: true}), []uint32{0}, 0, Verdict{Status: 256}, ""},
		"deleted, then lost":     {terminated(podstatus.End{Ran: true, Code: -1, Lost: true, Deleted: true}), nil, 0, Verdict{Status: 256}, "deleted by somebody else"},
		"nobody knows":           {terminated(podstatus.End{Ran: true, Code: -1}), nil, 0, Verdict{Status: 256}, "does not know how"},
		"lost node, still there": {podstatus.Reading{State: podstatus.Running, Deleting: true, Disruption: podstatus.Words{Reason: "DeletionByTaintManager"}}, nil, 0, Verdict{Status: 256, Disrupted: true}, "evicted from a Kubernetes node"},
		"some other disruption":  {terminated(podstatus.End{Code: -1, Disruption: podstatus.Words{Reason: "New"}}), nil, 0, Verdict{Status: 256, Disrupted: true}, "ended by Kubernetes [New]"},
	} {
		got := Judge(c.reading, c.statuses, c.kills)
		assert.Contains(t, got.Reason, c.reason, name)
		assert.Equal(t, c.reason == "", got.Reason == "", name)
		got.Reason = ""
		assert.Empty(t, cmp.Diff(c.want, got), name)
	}
}

func TestExitFor(t *testing.T) {
	for _, c := range []struct {
		end  podstatus.End
		want uint32
	}{
		{podstatus.End{Ran: true}, 0}, {podstatus.End{}, 256}, {podstatus.End{Code: 127, Ran: true}, 127 << 8}, {podstatus.End{Code: -1}, 256},
		{podstatus.End{Code: 143, Signal: 15}, 15}, {podstatus.End{Code: 137, OOM: true}, 9}, {podstatus.End{Code: 70000}, 256},
		{podstatus.End{Report: &podstatus.Report{Status: 11 | 0x80}}, 11 | 0x80}, {podstatus.End{Report: &podstatus.Report{Status: 0xffff}}, 256},
	} {
		assert.Equal(t, c.want, ExitFor(c.end), c.end)
	}
	for _, good := range []uint32{0, 1 << 8, 255 << 8, 1, 9, 64, 11 | 0x80} {
		assert.Equal(t, good, Sane(good))
	}
	for _, bad := range []uint32{0x7f, 0x137f, 0xffff, 65, 0x80, 1 << 16, 0x10009, 0x109} {
		assert.Equal(t, uint32(256), Sane(bad), bad)
	}
}

func FuzzLine(f *testing.F) {
	f.Add("a\x1b[31m\nb", "c\x00\xff", int64(7))
	f.Fuzz(func(t *testing.T, a, b string, d int64) {
		for _, text := range []string{
			NoRoom(a), NeverFits(a, b), PutBack(a, time.Duration(d)), PutBack(NoRoom(a), time.Duration(d)), APIRefused(errors.New(a)), Refused(errors.New(b)),
			CannotStart(&podstatus.StartFault{Words: podstatus.Words{Reason: a, Message: b}}), Requeued(NeverFits(a, b)),
		} {
			require.True(t, strings.HasPrefix(text, Tag))
			require.LessOrEqual(t, len(text), 1300)
			require.NotRegexp(t, "[\x00-\x1f\x7f\u009b\u2028]", text)
		}
	})
}

func TestStepWaiting(t *testing.T) {
	starting := podstatus.Reading{State: podstatus.Starting, NodeName: "k1", Waiting: podstatus.Words{Reason: "ContainerCreating"}}
	kind, text := StepWaiting("slurm-job-7-step-0-0", starting)
	assert.Equal(t, StepStarts, kind)
	assert.Equal(t, "slurm-k8s: Pod slurm-job-7-step-0-0 is being started on Kubernetes node k1 [ContainerCreating]", text)

	pulling := corev1.Event{Reason: "Pulling", Message: `Pulling image "reg/a:1"`, LastTimestamp: metav1.Unix(2, 0)}
	scheduled := corev1.Event{Reason: "Scheduled", Message: "assigned", LastTimestamp: metav1.Unix(1, 0)}
	beside := corev1.Event{Reason: "MissingClusterDNS", Message: "no", LastTimestamp: metav1.Unix(3, 0)}
	assert.Contains(t, StepStarting("p", starting, []corev1.Event{beside, pulling, scheduled}), `[Pulling image "reg/a:1"]`)

	kind, text = StepWaiting("p", podstatus.Reading{Unschedulable: "0/1 nodes"})
	assert.Equal(t, "room", kind)
	assert.Contains(t, text, "waits for room in the cluster [0/1 nodes]")
	_, text = StepWaiting("p", podstatus.Reading{})
	assert.Empty(t, text, "the scheduler has not said anything yet")
}
