// SPDX-License-Identifier: Apache-2.0

package site

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
)

// Bounds that are not obvious.
const (
	minGrace       = 5 * time.Second   // facts: room of a finished task is free up to 2 s later
	minOrphan      = 5 * time.Second   // several heartbeats; anything sensible is minutes
	maxAny         = 24 * time.Hour    // of what a job waits for
	maxKeep        = 8760 * time.Hour  // a year
	maxMargin      = 87600 * time.Hour // ten years; activeDeadlineSeconds is an int32
	minRate        = 1024              // bytes per second
	maxOrphan      = 30 * 24 * time.Hour
	maxClusterName = 200
)

var longOption = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// faults collects every fault under its key.
type faults []error

func (f *faults) add(key, format string, args ...any) {
	*f = append(*f, Fault{Key: key, Text: fmt.Sprintf(format, args...)})
}

func (f *faults) between(key string, d Duration, low, high time.Duration) {
	if d.Duration < low || d.Duration > high {
		f.add(key, "%s, must be from %s to %s", d.Duration, low, high)
	}
}

func (f *faults) oneOf(key, value string, may ...string) {
	if !slices.Contains(may, value) {
		f.add(key, "%q, must be one of %s", value, strings.Join(may, ", "))
	}
}

func (f *faults) absolute(key, value string) {
	if !path.IsAbs(value) || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		f.add(key, "%q is not an absolute path", value)
	}
}

// Validate names every fault at once, a line each, with its key.
func (c *Config) Validate() error {
	var f faults
	if len(c.Cluster) > maxClusterName || strings.ContainsFunc(c.Cluster, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		f.add("cluster", "%q is not a cluster's name", c.Cluster)
	}
	c.validateClusters(&f)
	c.validateTenants(&f)
	c.validateTimes(&f)
	f.oneOf("rendezvous", c.Rendezvous, RendezvousNone, RendezvousPyTorch)
	c.validatePod(&f)
	c.validateResources(&f)
	c.validatePlacement(&f)
	c.validateRegistries(&f)
	c.validateSubmission(&f)
	c.validateCommands(&f)
	c.validateVolumes(&f)
	if c.Output.Rate != 0 && c.Output.Rate < minRate {
		f.add("output.rate", "%d, must be 0 (no limit) or at least %d bytes per second", c.Output.Rate, minRate)
	}
	return errors.Join(f...)
}

func (c *Config) validateTimes(f *faults) {
	f.between("gate.wait", c.Gate.Wait, 0, maxAny)
	f.between("gate.wait_max", c.Gate.WaitMax, c.Gate.Wait.Duration, maxAny)
	f.between("gate.grace", c.Gate.Grace, minGrace, 5*time.Minute)
	f.between("requeue.backoff", c.Requeue.Backoff, 3*time.Second, maxAny)
	f.between("requeue.backoff_max", c.Requeue.BackoffMax, c.Requeue.Backoff.Duration, maxAny)
	if !(c.Requeue.Jitter >= 0 && c.Requeue.Jitter <= 1) { // NaN too
		f.add("requeue.jitter", "%v, must be from 0 to 1", c.Requeue.Jitter)
	}
	f.between("start_limit", c.StartLimit, 5*time.Second, maxAny)
	f.between("orphan_timeout", c.OrphanTimeout, minOrphan, maxOrphan)
}

func (c *Config) validatePod(f *faults) {
	f.between("pod.deadline_margin", c.Pod.DeadlineMargin, 0, maxMargin)
	if d := c.Pod.DeadlineMargin.Duration; d > 0 && d < time.Minute {
		f.add("pod.deadline_margin", "%s, must be 0 (none) or at least 1m0s", d)
	}
	f.oneOf("pod.pull_policy", c.Pod.PullPolicy, PullIfNotPresent, PullAlways, PullNever)
	f.between("pod.termination_grace", c.Pod.TerminationGrace, time.Second, time.Hour)
	if _, err := c.Pod.ShmBytes(0); err != nil {
		f.add("pod.shm_size", "%s", err)
	}
}

func (c *Config) validateResources(f *faults) {
	c.validateGRES(f)
	f.oneOf("resources.whole_node", c.Resources.WholeNode, WholeNodeClamp, WholeNodeRefuse)
	for _, r := range []struct{ key, value string }{
		{"resources.reserve.cpu", c.Resources.Reserve.CPU}, {"resources.reserve.memory", c.Resources.Reserve.Memory},
	} {
		if r.value == "" {
			continue
		}
		if q, err := ParseQuantity(r.value); err != nil || q.Sign() < 0 {
			f.add(r.key, "%q is not a Kubernetes quantity such as \"500m\" or \"1Gi\"", r.value)
		}
	}
}

func (c *Config) validateSubmission(f *faults) {
	for _, option := range c.Submission.RequiredDirectives {
		if !longOption.MatchString(option) {
			f.add("submission.required_directives", "%q is not a long option's name: write it without dashes and value, as in \"time\"", option)
		}
	}
	f.oneOf("submission.unreachable_registry", c.Submission.UnreachableRegistry, RegistryWarn, RegistryRefuse)
	for _, registry := range c.Submission.InsecureRegistries {
		if _, err := name.NewRegistry(registry, name.StrictValidation); err != nil {
			f.add("submission.insecure_registries", "%q is not HOST or HOST:PORT", registry)
		}
	}
}
