// SPDX-License-Identifier: Apache-2.0

package podstatus

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// pod is one of ours on node k1, changed.
func pod(changes ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		Spec:   corev1.PodSpec{NodeName: "k1", Containers: []corev1.Container{{Name: wellknown.ContainerName, Image: "h.io/lab/app:1"}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	for _, change := range changes {
		change(p)
	}
	return p
}

func phase(phase corev1.PodPhase, reason, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.Phase, p.Status.Reason, p.Status.Message = phase, reason, message }
}

func condition(c corev1.PodConditionType, status corev1.ConditionStatus, reason, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: c, Status: status, Reason: reason, Message: message})
	}
}

func container(state corev1.ContainerState) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "sidecar"}, {Name: wellknown.ContainerName, State: state}}
	}
}

func waits(reason, message string) func(*corev1.Pod) {
	return container(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}})
}

func ended(code int32, reason, message string) func(*corev1.Pod) {
	return container(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: message}})
}

func running(p *corev1.Pod) {
	container(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}})(p)
	p.Status.Phase = corev1.PodRunning
}

func deleting(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }

func unscheduled(reason, message string) *corev1.Pod {
	return pod(func(p *corev1.Pod) { p.Spec.NodeName = "" }, condition(corev1.PodScheduled, corev1.ConditionFalse, reason, message))
}

func TestState(t *testing.T) {
	for name, c := range map[string]struct {
		pod   *corev1.Pod
		state State
		ended bool
	}{
		"gone":                    {nil, Gone, true},
		"new":                     {pod(func(p *corev1.Pod) { p.Spec.NodeName = "" }), Unscheduled, false},
		"empty":                   {&corev1.Pod{}, Unscheduled, false},
		"scheduled":               {pod(), Starting, false},
		"creating":                {pod(waits("ContainerCreating", "")), Starting, false},
		"running":                 {pod(running), Running, false},
		"running, deleted":        {pod(running, deleting), Running, false},
		"phase lags behind start": {pod(running, phase(corev1.PodPending, "", "")), Running, false},
		"phase lags behind end":   {pod(ended(0, "Completed", ""), phase(corev1.PodRunning, "", "")), Terminated, true},
		"succeeded":               {pod(ended(0, "Completed", ""), phase(corev1.PodSucceeded, "", "")), Terminated, true},
		"never ran":               {pod(phase(corev1.PodFailed, "OutOfcpu", "")), Terminated, true},
		"failed, still waiting":   {pod(waits("ContainerCreating", ""), phase(corev1.PodFailed, "DeadlineExceeded", "")), Terminated, true},
		"failed beside running":   {pod(running, phase(corev1.PodFailed, "Evicted", "")), Terminated, false},
		"collected with its node": {pod(running, phase(corev1.PodFailed, "", ""), condition(corev1.DisruptionTarget, corev1.ConditionTrue, "DeletionByPodGC", "")), Terminated, true},
		"lost node":               {pod(running, deleting, condition(corev1.DisruptionTarget, corev1.ConditionTrue, "DeletionByTaintManager", "")), Running, false},
		"sandbox lost": {pod(func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{
				Name: wellknown.ContainerName, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}},
				LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "ContainerStatusUnknown"}},
			}}
		}), Terminated, true},
		"someone's sidecar": {pod(func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "istio", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}}
		}), Starting, false},
	} {
		reading := Read(c.pod)
		assert.Equal(t, c.state, reading.State, name)
		assert.Equal(t, c.ended, Ended(c.pod), name)
		assert.Equal(t, c.state >= Terminated, Over(c.pod), name)
		assert.Equal(t, c.state >= Terminated, reading.End != nil, name)
	}
	assert.Equal(t, "terminated", Terminated.String())
	assert.Equal(t, "unknown", State(99).String())
}

func TestUnschedulable(t *testing.T) {
	const full = "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."
	for message, never := range map[string]bool{
		full: false,
		"0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.":                                                   true,
		"0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient memory. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.":                                         true,
		"0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 2 Insufficient cpu. preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.": false,
		"0/1 nodes are available: 1 node(s) were unschedulable. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.":                                                                      false,
		"0/2 nodes are available: 2 node(s) had untolerated taint {node.kubernetes.io/not-ready: }. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.":                                  false,
		"0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never.":                                                                                                         false,
		"0/4 nodes are available: 4 Insufficient cpu. preemption: found a potential placement for pod on node k2, preempting 1 victims":                                                                                false,
		"no nodes available to schedule pods": false,
		"0/0 nodes are available: 0 Insufficient cpu. preemption: 0/0 nodes are available: 0 Preemption is not helpful for scheduling.": false,
	} {
		r := Read(unscheduled("Unschedulable", message))
		assert.Equal(t, message, r.Unschedulable)
		assert.Equal(t, never, r.NeverFits, message)
		assert.False(t, r.Nominated)
	}
	for _, reason := range []string{"SchedulerError", "SchedulingGated"} {
		assert.Empty(t, Read(unscheduled(reason, full)).Unschedulable, "no verdict")
	}
	nominated := unscheduled("Unschedulable", full)
	nominated.Status.NominatedNodeName = "k2"
	assert.True(t, Read(nominated).Nominated)
	assert.Equal(t, "Unschedulable", Read(unscheduled("Unschedulable", "")).Unschedulable)
	later := pod(condition(corev1.PodScheduled, corev1.ConditionTrue, "", ""))
	assert.Empty(t, Read(later).Unschedulable)
}

func TestEnd(t *testing.T) {
	type want struct {
		code, signal   int
		ran, oom, gone bool
		lost           bool
		report         *Report
		disruption     string
		words          string
	}
	taint := condition(corev1.DisruptionTarget, corev1.ConditionTrue, "PreemptionByScheduler", "default-scheduler: preempting")
	for name, c := range map[string]struct {
		pod  *corev1.Pod
		want want
	}{
		"ok":             {pod(ended(0, "Completed", "")), want{ran: true, words: "Completed"}},
		"seven":          {pod(ended(7, "Error", "status=1792 oom=0\n")), want{code: 7, ran: true, report: &Report{Told: true, Status: 1792}, words: "Error"}},
		"killed":         {pod(ended(137, "Error", "")), want{code: 137, signal: 9, ran: true, words: "Error"}},
		"oom":            {pod(ended(137, "OOMKilled", "")), want{code: 137, signal: 9, ran: true, oom: true, words: "OOMKilled"}},
		"oom of a child": {pod(ended(1, "Error", "status=256 oom=2")), want{code: 1, ran: true, oom: true, report: &Report{Told: true, Status: 256, OOMKills: 2}, words: "Error"}},
		"preempted":      {pod(ended(143, "Error", ""), taint, deleting), want{code: 143, signal: 15, ran: true, gone: true, disruption: "PreemptionByScheduler", words: "Error"}},
		"evicted": {pod(ended(137, "Error", ""), phase(corev1.PodFailed, "Evicted", "The node was low on resource: memory.")),
			want{code: 137, signal: 9, ran: true, disruption: "Evicted", words: "Evicted"}},
		"status unknown": {pod(ended(137, "ContainerStatusUnknown", "The container could not be located when the pod was terminated")), want{code: -1, ran: true, lost: true, words: "ContainerStatusUnknown"}},
		"not seen":       {pod(ended(255, "Unknown", "")), want{code: 255, ran: true, lost: true, words: "Unknown"}},
		"never ran":      {pod(phase(corev1.PodFailed, "OutOfcpu", "Pod was rejected")), want{code: -1, words: "OutOfcpu"}},
		"start error":    {pod(ended(128, "StartError", "exec: no such file")), want{code: 128, words: "StartError"}},
		"code 255":       {pod(ended(255, "Error", "")), want{code: 255, ran: true, words: "Error"}},
		"gone":           {nil, want{code: -1, gone: true}},
	} {
		e := Read(c.pod).End
		require.NotNil(t, e, name)
		got := want{e.Code, e.Signal, e.Ran, e.OOM, e.Deleted, e.Lost, e.Report, e.Disruption.Reason, e.Words.Reason}
		assert.Empty(t, cmp.Diff(c.want, got, cmp.AllowUnexported(want{})), name)
	}
	assert.True(t, Read(pod(ended(143, "Error", ""), phase(corev1.PodFailed, "DeadlineExceeded", "Pod was active on the node longer than the specified deadline"))).End.Deadline)
}

func TestParseReport(t *testing.T) {
	for text, want := range map[string]Report{
		"status=0 oom=0":              {Told: true},
		"status=9 oom=1\n":            {Told: true, Status: 9, OOMKills: 1},
		"noise\nstatus=1792":          {Told: true, Status: 1792},
		"version=2 status=3 oom=4 x=": {Told: true, Status: 3, OOMKills: 4},
		// podinit writes tasks that failed first.
		"task=1 status=256 oom=1 utime=1 stime=2 peak=3\ntask=2 status=9 oom=2\ntask=0 status=0 oom=0\n": {Told: true, Status: 256, OOMKills: 2},
		"orphaned\ntask=0 status=15 oom=0 utime=1 stime=2 peak=3\n":                                      {Told: true, Status: 15, Orphaned: true},
		"never started\n": {NeverStarted: true},
		"orphaned\n":      {Orphaned: true},
		"usage utime=1500999 stime=20000 peak=50 more=1\ntask=0 status=0 oom=0\n":     {Told: true, Usage: &job.Usage{UserMS: 1500, SystemMS: 20, PeakBytes: 50}},
		"usage utime=1 stime=1 peak=1\nusage utime=9 stime=9 peak=9\ntask=0 status=0": {Told: true}, // which of them?
		"usage utime=1 peak=1 stime=1\ntask=0 status=0":                               {Told: true},
		"usage utime=-1 stime=1 peak=1\ntask=0 status=0":                              {Told: true},
		"usage utime=1 stime=1\ntask=0 status=0":                                      {Told: true},
		"usage utime=18446744073709551615 stime=1 peak=1\ntask=0 status=0":            {Told: true},
	} {
		got, ok := ParseReport(text)
		assert.True(t, ok, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "usage utime=1 stime=1 peak=1", "status", "status=", "status=-1", "oom=1", "status=1 oom=x", "Killed", "status=4294967296"} {
		_, ok := ParseReport(text)
		assert.False(t, ok, text)
	}
}

func TestNeverStarted(t *testing.T) {
	r := Read(pod(ended(1, "Error", "never started\n")))
	assert.Equal(t, &StartFault{Class: ClassRetry, Kind: KindNeverStarted, Words: Words{Reason: "Error"}, Ended: true}, r.StartFault)
	assert.Nil(t, r.End.Report)
	r = Read(pod(ended(143, "Error", "orphaned\ntask=0 status=15 oom=0")))
	assert.True(t, r.End.Orphaned)
	assert.Equal(t, uint32(15), r.End.Report.Status)
	assert.Nil(t, r.StartFault)
}

func TestUsageOf(t *testing.T) {
	assert.Nil(t, UsageOf(pod(running)))
	assert.Nil(t, UsageOf(pod(ended(0, "Completed", "usage utime=1000 stime=1000 peak=1"))), "nothing has run")
	assert.Equal(t, &job.Usage{UserMS: 1, SystemMS: 2, PeakBytes: 3}, UsageOf(pod(ended(0, "Completed", "usage utime=1000 stime=2000 peak=3\ntask=0 status=0 oom=0\n"))))
}

func FuzzRead(f *testing.F) {
	for _, p := range []*corev1.Pod{pod(running), pod(ended(137, "OOMKilled", "status=9 oom=1")), unscheduled("Unschedulable", "0/1"), pod(waits("ErrImagePull", "x"))} {
		text, err := json.Marshal(p)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var p corev1.Pod
		if json.Unmarshal(data, &p) != nil {
			return
		}
		r := Read(&p)
		if status := containerStatus(&p); status != nil && status.State.Terminated != nil {
			require.Equal(t, Terminated, r.State)
			require.True(t, Ended(&p))
		}
		require.Equal(t, r.State == Terminated, r.End != nil)
		require.Equal(t, r.State == Terminated, Over(&p))
		if Ended(&p) {
			require.Equal(t, Terminated, r.State)
		}
	})
}
