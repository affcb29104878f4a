// SPDX-License-Identifier: Apache-2.0

package podstatus

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const pulling = `failed to pull and unpack image "h.io/lab/app:1": failed to resolve reference "h.io/lab/app:1": `

func TestStartFault(t *testing.T) {
	for _, c := range []struct {
		reason, message string
		class           Class
		kind            Kind
	}{
		{"InvalidImageName", `Failed to apply default image tag "A": couldn't parse image name`, ClassFinal, KindImageName},
		{"ErrImageNeverPull", `Container image "h.io/lab/app:1" is not present with pull policy of Never`, ClassFinal, KindImageAbsent},
		{"ErrImagePull", "rpc error: code = NotFound desc = " + pulling + "h.io/lab/app:1: not found", ClassFinal, KindImageNotFound},
		{"ImagePullBackOff", `Back-off pulling image "h.io/lab/app:1": ErrImagePull: ` + pulling + "h.io/lab/app:1: not found", ClassFinal, KindImageNotFound},
		{"ImagePullBackOff", `Back-off pulling image "h.io/lab/app:1"`, ClassRetry, KindImagePull},
		{"ErrImagePull", pulling + "pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed", ClassFinal, KindImageDenied},
		{"ErrImagePull", pulling + "unexpected status from HEAD request to https://h.io/v2/lab/app/manifests/1: 401 Unauthorized", ClassFinal, KindImageDenied},
		{"ErrImagePull", pulling + "failed to authorize: failed to fetch anonymous token: unexpected status from GET request to https://h.io/token: 403 Forbidden", ClassFinal, KindImageDenied},
		{"ErrImagePull", pulling + `failed to do request: Head "https://h.io/v2/lab/app/manifests/1": dial tcp: lookup h.io on 10.0.0.2:53: no such host`, ClassRetry, KindImagePull},
		{"ErrImagePull", pulling + `failed to do request: Head "https://h.io/v2/x": dial tcp 127.0.0.1:5000: connect: connection refused`, ClassRetry, KindImagePull},
		{"ErrImagePull", pulling + `failed to do request: Head "https://h.io/v2/x": dial tcp 10.0.0.1:443: i/o timeout`, ClassRetry, KindImagePull},
		{"ErrImagePull", pulling + `failed to do request: Head "https://h.io/v2/x": tls: failed to verify certificate: x509: certificate signed by unknown authority`, ClassRetry, KindImagePull},
		{"ErrImagePull", pulling + "unexpected status from HEAD request to https://h.io/v2/x: 429 Too Many Requests", ClassRetry, KindImagePull},
		{"ErrImagePull", pulling + "unexpected status from HEAD request to https://h.io/v2/x: 503 Service Unavailable", ClassRetry, KindImagePull},
		{"ErrImagePull", `failed to pull image "h.io/lab/app:1": no match for platform in manifest: not found`, ClassFinal, KindImagePlatform},
		{"ErrImagePull", "something new", ClassRetry, KindImagePull},
		{"CreateContainerConfigError", "container has runAsNonRoot and image has non-numeric user (app)", ClassFinal, KindConfig},
		{"CreateContainerConfigError", "failed to sync configmap cache: timed out waiting for the condition", ClassRetry, KindConfig},
		{"CreateContainerError", `failed to generate spec: path "/" is mounted on "/" but it is not a shared mount`, ClassFinal, KindCreate},
		{"CreateContainerError", "context deadline exceeded", ClassRetry, KindCreate},
		{"RunContainerError", `failed to create containerd task: OCI runtime create failed: exec: "/.slurm-k8s/bin/podinit": permission denied`, ClassFinal, KindCreate},
	} {
		fault := Read(pod(waits(c.reason, c.message))).StartFault
		require.NotNil(t, fault, c.reason)
		assert.Equal(t, c.class, fault.Class, c.message)
		assert.Equal(t, c.kind, fault.Kind, c.message)
		assert.Equal(t, Words{c.reason, c.message}, fault.Words)
		assert.False(t, fault.Ended)
	}
	for _, reason := range []string{"", "ContainerCreating", "PodInitializing"} {
		assert.Nil(t, Read(pod(waits(reason, ""))).StartFault)
	}
}

func TestImageNameDoesNotDecide(t *testing.T) {
	evil := "h.io/denied/not-found:unauthorized"
	p := pod(waits("ErrImagePull", `failed to resolve reference "`+evil+`": `+evil+": something else"))
	p.Spec.Containers[0].Image = evil
	assert.Equal(t, ClassRetry, Read(p).StartFault.Class)
}

func TestRejected(t *testing.T) {
	for reason, class := range map[string]Class{
		"OutOfcpu": ClassRetry, "OutOfmemory": ClassRetry, "OutOfnvidia.com/gpu": ClassRetry, "UnexpectedAdmissionError": ClassRetry,
		"NodeAffinity": ClassRetry, "NodeShutdown": ClassRetry, "Preempting": ClassRetry, "Evicted": ClassRetry,
		"SupplementalGroupsPolicyNotSupported": ClassRetry, "DeadlineExceeded": ClassFinal, "AppArmor": ClassFinal,
	} {
		fault := Read(pod(phase(corev1.PodFailed, reason, "Pod was rejected"))).StartFault
		require.NotNil(t, fault, reason)
		assert.Equal(t, class, fault.Class, reason)
		assert.Equal(t, KindRejected, fault.Kind)
		assert.True(t, fault.Ended)
	}
	fault := Read(pod(phase(corev1.PodFailed, "", ""), condition(corev1.DisruptionTarget, corev1.ConditionTrue, "PreemptionByScheduler", ""))).StartFault
	assert.Equal(t, "PreemptionByScheduler", fault.Words.Reason)
	started := Read(pod(ended(128, "StartError", "exec format error"))).StartFault
	assert.Equal(t, &StartFault{ClassFinal, KindCreate, Words{"StartError", "exec format error"}, true}, started)
	again := Read(pod(ended(128, "StartError", "no space left on device"))).StartFault
	assert.Equal(t, ClassRetry, again.Class)
	for _, message := range []string{
		"failed to create containerd task: failed to create shim task: context canceled",
		`failed to start containerd task "job": error reading from server: EOF`,
		`rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial unix containerd.sock: connect: no such file or directory"`,
		"failed to create containerd task: OCI runtime create failed: unable to retrieve OCI runtime error: runc did not terminate successfully: signal: killed",
	} {
		assert.Equal(t, ClassRetry, Read(pod(ended(128, "StartError", message))).StartFault.Class, message)
	}
	assert.Nil(t, Read(pod(ended(1, "Error", ""))).StartFault)
}

func TestKilledFromOutside(t *testing.T) {
	for _, c := range []struct {
		code   int32
		reason string
		want   bool
	}{
		{137, "Error", true}, {143, "Error", true}, {137, "ContainerStatusUnknown", true}, {255, "Unknown", true},
		{137, "OOMKilled", false}, {1, "Error", false}, {139, "Error", false}, {0, "Completed", false},
	} {
		assert.Equal(t, c.want, Read(pod(ended(c.code, c.reason, ""))).End.KilledFromOutside(), "%d %s", c.code, c.reason)
	}
	assert.False(t, (*End)(nil).KilledFromOutside())
}

func TestClassifyError(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	forbidden := func(text string) error { return apierrors.NewForbidden(pods, "slurm-job-7", errors.New(text)) }
	ending := func() error {
		err := apierrors.NewForbidden(pods, "slurm-job-7", errors.New("unable to create new content in namespace user-alice because it is being terminated"))
		err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
		return err
	}
	denied := forbidden(`User "system:serviceaccount:slurm:slurm-k8s-node" cannot get resource "configmaps" in API group "" in the namespace "user-alice"`)
	for name, c := range map[string]struct {
		err               error
		missing, terminal bool
	}{
		"none":        {nil, false, false},
		"no right":    {denied, true, false},
		"not found":   {apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "user-alice"), true, false},
		"no Pod":      {apierrors.NewNotFound(pods, "user-alice"), false, false},
		"quota":       {forbidden("exceeded quota: lab"), false, false},
		"terminating": {ending(), true, true},
		"network":     {errors.New("dial tcp: connection refused"), false, false},
	} {
		assert.Equal(t, []bool{c.missing, c.terminal}, []bool{NoNamespace(c.err), NamespaceEnds(c.err)}, name)
	}
	for name, c := range map[string]struct {
		err  error
		want Class
	}{
		"none":          {nil, ClassNone},
		"exists":        {apierrors.NewAlreadyExists(pods, "slurm-job-7"), ClassExists},
		"quota":         {forbidden("exceeded quota: lab, requested: cpu=4, used: cpu=30, limited: cpu=32"), ClassCapacity},
		"new quota":     {forbidden("status unknown for quota: lab, resources: cpu"), ClassRetry},
		"quota race":    {apierrors.NewConflict(schema.GroupResource{Resource: "resourcequotas"}, "lab", errors.New("modified")), ClassRetry},
		"policy":        {forbidden("ValidatingAdmissionPolicy 'slurm-k8s-pods' with binding 'x' denied request: uid"), ClassFinal},
		"pod security":  {forbidden(`violates PodSecurity "restricted:latest"`), ClassFinal},
		"limit range":   {forbidden("maximum cpu usage per Container is 2, but limit is 4"), ClassFinal},
		"no right":      {forbidden(`User "system:serviceaccount:slurm:slurm-k8s-node" cannot get resource "configmaps" in API group "" in the namespace "slurm"`), ClassRetry},
		"new account":   {forbidden("error looking up service account user-alice/default: serviceaccount \"default\" not found"), ClassRetry},
		"terminating":   {ending(), ClassRetry},
		"invalid":       {apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "slurm-job-7", field.ErrorList{field.Required(field.NewPath("x"), "")}), ClassFinal},
		"bad request":   {apierrors.NewBadRequest("x"), ClassFinal},
		"no namespace":  {apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "slurm"), ClassFinal},
		"429":           {apierrors.NewTooManyRequests("x", 1), ClassRetry},
		"timeout":       {apierrors.NewTimeoutError("x", 1), ClassRetry},
		"server":        {apierrors.NewServerTimeout(pods, "create", 1), ClassRetry},
		"internal":      {apierrors.NewInternalError(errors.New("failed calling webhook")), ClassRetry},
		"unavailable":   {apierrors.NewServiceUnavailable("x"), ClassRetry},
		"502":           {apierrors.NewGenericServerResponse(502, "create", pods, "x", "", 0, true), ClassRetry},
		"unauthorized":  {apierrors.NewUnauthorized("x"), ClassRetry},
		"network":       {errors.New("dial tcp: connection refused"), ClassRetry},
		"context":       {context.DeadlineExceeded, ClassRetry},
		"foreign":       {Foreign(errors.New("a Pod is there")), ClassFinal},
		"wrapped":       {fmt.Errorf("create: %w", apierrors.NewAlreadyExists(pods, "x")), ClassExists},
		"wrapped quota": {fmt.Errorf("create: %w", forbidden("exceeded quota: lab")), ClassCapacity},
	} {
		assert.Equal(t, c.want.String(), ClassifyError(c.err).String(), name)
	}
	assert.Equal(t, "violates x", Rule(forbidden("violates x")))
	assert.Equal(t, "plain", Rule(errors.New("plain")))
	assert.Empty(t, Rule(nil))
}
