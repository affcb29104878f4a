// SPDX-License-Identifier: Apache-2.0

package wellknown

// Labels of a namespace that is made for jobs. The admission policies of deploy/ read them.
const (
	// LabelJobs, with the value "true", is on every namespace of jobs.
	LabelJobs = "slurm-k8s/jobs"
	// LabelTenantOf names the namespace of the accounts that may work in this one.
	LabelTenantOf = "slurm-k8s/tenant-of"
	LabelManaged  = "app.kubernetes.io/managed-by"
	Managed       = "slurm-k8s"
	// LabelLevel is Pod Security's own.
	LabelLevel        = "pod-security.kubernetes.io/enforce"
	LabelLevelVersion = "pod-security.kubernetes.io/enforce-version"
)

// Annotations of such a namespace.
const (
	// AnnotationNamespace is the pattern's exact text for its owner.
	AnnotationNamespace = "slurm-k8s/namespace"
	// AnnotationUID and AnnotationGID are those of the one user whose jobs are in it: no Pod there
	// runs as anybody else.
	AnnotationUID = "slurm-k8s/uid"
	AnnotationGID = "slurm-k8s/gid"
	// AnnotationTemplate is a hash of what the site's file wanted in it when it was last written.
	AnnotationTemplate = "slurm-k8s/template"
)

// Objects of deploy/, and of ours in each such namespace.
const (
	NodeAccount      = "slurm-k8s-node"
	CollectorAccount = "slurm-k8s-collector"
	// TenantNodeRole and TenantCollectorRole are ClusterRoles, bound in each such namespace.
	TenantNodeRole      = "slurm-k8s-tenant-node"
	TenantCollectorRole = "slurm-k8s-tenant-collector"
	// TenantObject is the name of its ResourceQuota and LimitRange.
	TenantObject = "slurm-k8s"
)
