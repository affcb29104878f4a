// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

// podFacts is one Pod of a job.
type podFacts struct {
	name, node, step, session string
	job                       int
	running                   bool
	cpu                       resource.Quantity
}

const podsPath = "/api/v1/namespaces/" + testcluster.Namespace + "/pods?labelSelector=app%3Dslurm-job"

// pods are the jobs' Pods by what Kubernetes says; labels are known by their text alone.
func (w *world) pods() ([]podFacts, error) {
	var list corev1.PodList
	if err := w.lab.Get(podsPath, &list); err != nil {
		return nil, err
	}
	var all []podFacts
	for _, p := range list.Items {
		f := podFacts{name: p.Name, node: p.Spec.NodeName, session: p.Annotations["slurm-k8s/session"], step: p.Labels["slurm-k8s/step"]}
		f.job, _ = strconv.Atoi(p.Labels["job-id"])
		f.cpu = p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU]
		f.running = p.DeletionTimestamp == nil && len(p.Status.ContainerStatuses) > 0 && p.Status.ContainerStatuses[0].State.Running != nil
		all = append(all, f)
	}
	return all, nil
}

// runningPod picks one of a job that has begun: a Pod that is deleted before is only made again.
func (w *world) runningPod(s *strike, h *hit) (podFacts, error) {
	all, err := w.pods()
	if err != nil {
		return podFacts{}, errNobody // the API server is away
	}
	var some []podFacts
	for _, p := range all {
		if p.running && w.order(p.job) != nil && w.ledger.begun(p.job) {
			some = append(some, p)
		}
	}
	p, err := one(s, some)
	if err == nil {
		h.target = fmt.Sprintf("%s on %s (%s)", p.name, p.node, w.order(p.job).kind.name)
		h.reach.jobs = []int{p.job}
	}
	return p, err
}

func kubectl(stdin string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "kubectl", append([]string{"--request-timeout=30s"}, args...)...)
	command.Stdin = strings.NewReader(stdin)
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

func deletePod(args ...string) func(*world, *strike, *hit) (func() error, error) {
	return func(w *world, s *strike, h *hit) (func() error, error) {
		p, err := w.runningPod(s, h)
		if err != nil {
			return nil, err
		}
		return nil, kubectl("", append([]string{"-n", testcluster.Namespace, "delete", "pod", p.name, "--wait=false"}, args...)...)
	}
}

func evictPod(w *world, s *strike, h *hit) (func() error, error) {
	p, err := w.runningPod(s, h)
	if err != nil {
		return nil, err
	}
	eviction := fmt.Sprintf(`{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":%q,"namespace":%q}}`, p.name, testcluster.Namespace)
	return nil, kubectl(eviction, "create", "--raw", "/api/v1/namespaces/"+testcluster.Namespace+"/pods/"+p.name+"/eviction", "-f", "-")
}

// preemptPod makes a Pod of higher priority that fits where a job's Pod is only when that one goes.
func preemptPod(w *world, s *strike, h *hit) (func() error, error) {
	p, err := w.runningPod(s, h)
	if err != nil {
		return nil, err
	}
	free, err := w.freeCPU(p.node)
	if err != nil {
		return nil, errNobody
	}
	free.Add(p.cpu)
	class := `{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"faults-high"},"value":1000000}`
	kubectl(class, "create", "-f", "-") // it may be there
	name := fmt.Sprintf("faults-preempt-%d", s.number)
	pod := w.filler(name, p.node, free)
	pod.Spec.PriorityClassName = "faults-high"
	text, err := json.Marshal(pod)
	if err != nil {
		return nil, err
	}
	h.target = "instead of " + h.target
	h.reach = reach{node: p.node} // whom the scheduler takes
	return func() error { return removeFillers(name) }, kubectl(string(text), "create", "-f", "-")
}

// secondPump is what an administrator's exec of the same command would do, or a core that was thought dead.
func secondPump(w *world, s *strike, h *hit) (func() error, error) {
	p, err := w.runningPod(s, h)
	if err != nil {
		return nil, err
	}
	command := exec.Command("kubectl", "-n", testcluster.Namespace, "exec", "-i", p.name, "-c", "job", "--",
		"/.slurm-k8s/bin/podinit", "pump", "--session="+p.session)
	stdin, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	return func() error {
		stdin.Close()
		command.Process.Kill()
		command.Wait()
		return nil
	}, nil
}

var podFaults = []*faultKind{
	{name: "pod-delete", what: "a Pod is deleted by somebody else", effect: deadly, inject: deletePod()},
	{name: "pod-force-delete", what: "a Pod is deleted by force: its object goes before its processes", effect: forced, inject: deletePod("--force", "--grace-period=0")},
	{name: "pod-evict", what: "a Pod is evicted, as by a drain", effect: disrupted, inject: evictPod},
	{name: "pod-preempt", what: "a Pod of higher priority takes a job's place", low: 3 * time.Second, high: 10 * time.Second, alone: "room", effect: disrupted, inject: preemptPod},
}
