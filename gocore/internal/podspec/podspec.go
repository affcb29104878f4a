// SPDX-License-Identifier: Apache-2.0

// Package podspec makes the Pod of a step: a pure translation from job and site.
package podspec

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/option"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// Input is all that a Pod is made of.
type Input struct {
	Job  job.Job
	Site *site.Config
	// Session is the incarnation's number, never 0.
	Session uint64
	// PodinitConfigMap is the name of the ConfigMap with podinit.
	PodinitConfigMap string
	// PullSecret tells that the Pod pulls with a Secret of its user's own beside the site's:
	// the last one, which gets its name for each Pod that is made (NamePullSecret).
	PullSecret bool
	// GPUs are the numbers on the Slurm node of those that Slurm gave the step there, ascending, as
	// far as they are known.
	GPUs []int
	// Shapes is asked only where a whole-node job must be clamped. nil, or an error of
	// it: no clamp, and the scheduler's verdict stands.
	Shapes func() (Shapes, error)
	// Directory is asked where the site's lists for a volume have names.
	Directory site.Directory
}

// Build makes the Pod. Its errors are the user's to read: what of the job Kubernetes cannot have.
func Build(in Input) (*corev1.Pod, error) {
	j := in.Job
	switch {
	case in.Site == nil, in.Session == 0, in.PodinitConfigMap == "":
		return nil, errors.New("the Pod's input is not complete")
	case j.Namespace.Name == "":
		return nil, errors.New("the job's namespace is not known")
	case j.UID == 0 || j.GID == 0:
		return nil, errors.New("root's jobs do not run in a Pod")
	case j.Options.Image == "":
		return nil, errors.New("the job has no image")
	}
	request, err := in.request()
	if err != nil {
		return nil, err
	}
	image, err := option.Resolve(j.Options.Image, in.Site.Registries)
	if err != nil {
		return nil, err
	}
	shm, err := shmSize(in.Site, request)
	if err != nil {
		return nil, err
	}
	storage, err := StorageFor(j.Options, whoIs(j), in.Site, in.Directory)
	if err != nil {
		return nil, err
	}
	place, err := placeOf(j, in.Site)
	if err != nil {
		return nil, err
	}
	devices, err := in.devices(request, place)
	if err != nil {
		return nil, err
	}
	pod := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name:        wellknown.PodName(j.ID, j.Step, j.Component, j.NodeID),
			Namespace:   j.Namespace.Name,
			Labels:      Labels(j, in.Site),
			Annotations: annotations(j, in),
		},
		Spec: corev1.PodSpec{
			RestartPolicy:                 corev1.RestartPolicyNever,
			Containers:                    []corev1.Container{container(in, image, request, shm, devices)},
			Volumes:                       volumes(in.PodinitConfigMap, shm),
			SecurityContext:               podSecurity(j),
			AutomountServiceAccountToken:  new(false),
			EnableServiceLinks:            new(false),
			TerminationGracePeriodSeconds: new(seconds(in.Site.Pod.TerminationGrace.Duration)),
			ActiveDeadlineSeconds:         deadline(j.TimeLimit, in.Site.Pod.DeadlineMargin.Duration),
		},
	}
	put(pod, place)
	for _, secret := range in.Site.Registries.PullSecrets {
		pod.Spec.ImagePullSecrets = append(pod.Spec.ImagePullSecrets, corev1.LocalObjectReference{Name: secret})
	}
	if in.PullSecret {
		pod.Spec.ImagePullSecrets = append(pod.Spec.ImagePullSecrets, corev1.LocalObjectReference{})
		NamePullSecret(pod, in.Session)
	}
	selectNodes(&pod.Spec, request.Labels)
	if request.RuntimeClass != "" {
		pod.Spec.RuntimeClassName = &request.RuntimeClass
	}
	storage.forJob(j).add(&pod.Spec, corev1.PullPolicy(in.Site.Pod.PullPolicy))
	return pod, nil
}

// request is the job's, clamped where the site wants that.
func (in Input) request() (Request, error) {
	request, err := RequestFor(in.Job, in.Site)
	if err != nil || !in.Job.WholeNode() || in.Site.Resources.WholeNode != site.WholeNodeClamp || in.Shapes == nil {
		return request, err
	}
	shapes, err := in.Shapes()
	if err != nil {
		return request, nil
	}
	clamped, _, err := Clamp(request, shapes, in.Site.Resources.Reserve)
	return clamped, err
}

// Labels of the step's Pod: what users select by, and what the epilog, the collector and
// the next incarnation find it by.
func Labels(j job.Job, config *site.Config) map[string]string {
	user := j.User
	if user == "" {
		user = strconv.FormatUint(uint64(j.UID), 10)
	}
	labels := map[string]string{
		wellknown.LabelApp:         wellknown.AppJob,
		wellknown.LabelJobID:       strconv.FormatUint(uint64(j.ID), 10),
		wellknown.LabelUser:        wellknown.LabelValue(user),
		wellknown.LabelCluster:     wellknown.LabelValue(ClusterName(j.Cluster, config)),
		wellknown.LabelStep:        wellknown.LabelValue(j.Step),
		wellknown.LabelNode:        wellknown.LabelValue(j.Node),
		wellknown.LabelIncarnation: strconv.FormatUint(uint64(j.Restarts), 10),
	}
	if !j.IsBatch() {
		labels[wellknown.LabelNodeID] = strconv.Itoa(j.NodeID)
	}
	if j.Component != "" {
		labels[wellknown.LabelComponent] = j.Component
	}
	return labels
}

// ClusterName is the site's own name for the Slurm cluster, or Slurm's.
func ClusterName(slurms string, config *site.Config) string {
	if config.Cluster != "" {
		return config.Cluster
	}
	return slurms
}

func annotations(j job.Job, in Input) map[string]string {
	a := map[string]string{wellknown.AnnotationSession: Session(in.Session)}
	if in.knowsGPUs() {
		a[wellknown.AnnotationGPUs] = job.FormatGPUs(in.GPUs)
	}
	if j.User != "" {
		a[wellknown.AnnotationUser] = strings.ToValidUTF8(j.User, "?")
	}
	return a
}

// Session is an incarnation's number as podinit and the annotation have it.
func Session(number uint64) string { return fmt.Sprintf("%016x", number) }

// deadline is the outermost net, far beyond the time limit: it can only be lowered later.
// None for a job without limit. Kubernetes' bound is an int32.
func deadline(limit, margin time.Duration) *int64 {
	if limit <= 0 || margin <= 0 || limit > math.MaxInt64-margin {
		return nil
	}
	if s := seconds(limit + margin); s <= math.MaxInt32 {
		return &s
	}
	return nil
}

// seconds rounds up.
func seconds(d time.Duration) int64 {
	s := int64(d / time.Second)
	if d%time.Second > 0 {
		s++
	}
	return s
}
