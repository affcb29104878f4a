// SPDX-License-Identifier: Apache-2.0

package podstatus

import (
	"errors"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// foreign is an error that another object of somebody else's is in the way.
type foreign struct{ error }

func (f foreign) Unwrap() error { return f.error }

// Foreign marks an error as final: a foreign object is reported, never touched.
func Foreign(err error) error { return foreign{err} }

// ClassifyError says what an error of a request before the start means. Errors that are
// no answer of the API server's are of the network, and retried.
func ClassifyError(err error) Class {
	var f foreign
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return ClassNone
	case errors.As(err, &f):
		return ClassFinal
	case !errors.As(err, &status):
		return ClassRetry
	case apierrors.IsAlreadyExists(err):
		return ClassExists
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return ClassRetry
	case apierrors.IsForbidden(err):
		return classifyForbidden(err.Error())
	case apierrors.IsConflict(err), // two creates raced for one quota
		apierrors.IsUnauthorized(err), // the node's credential is being renewed, or is bad: not the job's fault
		apierrors.IsTooManyRequests(err), apierrors.IsServerTimeout(err), apierrors.IsTimeout(err),
		apierrors.IsInternalError(err), apierrors.IsServiceUnavailable(err), apierrors.IsUnexpectedServerError(err):
		return ClassRetry
	}
	if code := status.Status().Code; code == 0 || code >= 500 || code == 429 {
		return ClassRetry
	}
	return ClassFinal
}

// classifyForbidden tells quota, which has no reason of its own in the API, from rules.
func classifyForbidden(text string) Class {
	switch {
	case strings.Contains(text, "status unknown for quota"): // the quota was made a moment ago
		return ClassRetry
	case strings.Contains(text, "exceeded quota"):
		return ClassCapacity
	case deniedByRBAC(text):
		return ClassRetry
	case strings.Contains(text, "error looking up service account "): // the namespace was made a moment ago
		return ClassRetry
	}
	return ClassFinal
}

// deniedByRBAC: the credential of this node may not do that. Not the job's fault, and not
// final: a kube-apiserver that has just started says so until it has read its roles.
func deniedByRBAC(text string) bool {
	return strings.Contains(text, `User "`) && strings.Contains(text, `" cannot `) && strings.Contains(text, " resource ")
}

// NoNamespace tells an answer that says that the namespace may not be there, or goes: of one that is
// not there an account with rights in single namespaces is told that it may not, and one with
// rights in all that it is not found.
func NoNamespace(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return NamespaceEnds(err) || apierrors.IsForbidden(err) && deniedByRBAC(err.Error()) ||
		apierrors.IsNotFound(err) && details != nil && details.Kind == "namespaces"
}

// NamespaceEnds tells an answer that says that the namespace is being deleted.
func NamespaceEnds(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// Rule is what of an API refusal names the rule that refused: the message without what
// every refusal begins with (`pods "slurm-job-7" is forbidden: `).
func Rule(err error) string {
	if err == nil {
		return ""
	}
	text := err.Error()
	for _, mark := range []string{" is forbidden: ", " is invalid: "} {
		if before, after, found := strings.Cut(text, mark); found && !strings.Contains(before, "\n") {
			return after
		}
	}
	return text
}
