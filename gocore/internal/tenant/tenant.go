// SPDX-License-Identifier: Apache-2.0

// Package tenant makes the objects of a namespace that the site's pattern names: a pure
// translation from the site's file and whose namespace it is.
package tenant

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// Objects are a namespace and what belongs in it, in the order in which they are made. The node's
// rights come last: where these are, the rest is complete.
type Objects struct {
	Namespace *corev1.Namespace
	// Quota and Limits are there also where the site wants none, and then hold nothing: what it
	// wanted before is undone by a change, never by a deletion.
	Quota    *corev1.ResourceQuota
	Limits   *corev1.LimitRange
	Bindings []*rbacv1.RoleBinding
}

// Build makes them. The site's file has been checked; place is of site.NamespaceOf.
func Build(config *site.Config, place site.Namespace) Objects {
	annotations := map[string]string{wellknown.AnnotationNamespace: place.Exact}
	if config.ByUser() {
		annotations[wellknown.AnnotationUID] = strconv.FormatUint(uint64(place.Owner.UID), 10)
		annotations[wellknown.AnnotationGID] = strconv.FormatUint(uint64(place.Owner.GID), 10)
	}
	return build(config, place.Name, place.Owner.Cluster, annotations)
}

// build makes them with the annotations that say whose the namespace is.
func build(config *site.Config, name, cluster string, whose map[string]string) Objects {
	level, _ := config.Level()
	labels := maps.Clone(config.Tenants.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, map[string]string{
		wellknown.LabelJobs: "true", wellknown.LabelTenantOf: config.SystemNamespace(),
		wellknown.LabelCluster: wellknown.LabelValue(cluster), wellknown.LabelManaged: wellknown.Managed,
		wellknown.LabelLevel: level, wellknown.LabelLevelVersion: "latest",
	})
	annotations := maps.Clone(config.Tenants.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[site.AllowAnnotation] = strings.Join(config.Allow(), " ")
	o := Objects{
		Namespace: &corev1.Namespace{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: annotations},
		},
		Quota: &corev1.ResourceQuota{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ResourceQuota"}, ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: wellknown.TenantObject},
			Spec: corev1.ResourceQuotaSpec{Hard: amounts(config.Tenants.Quota)},
		},
		Limits: &corev1.LimitRange{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "LimitRange"}, ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: wellknown.TenantObject},
			Spec: corev1.LimitRangeSpec{Limits: limits(config.Tenants.Limits)},
		},
		Bindings: []*rbacv1.RoleBinding{
			binding(config, name, wellknown.CollectorAccount, wellknown.TenantCollectorRole),
			binding(config, name, wellknown.NodeAccount, wellknown.TenantNodeRole),
		},
	}
	template := template(o, annotations)
	maps.Copy(annotations, whose)
	annotations[wellknown.AnnotationTemplate] = template
	return o
}

// template is a hash of all that the site's file says of a namespace.
func template(o Objects, annotations map[string]string) string {
	labels := maps.Clone(o.Namespace.Labels)
	delete(labels, wellknown.LabelCluster)
	text, err := json.Marshal([]any{labels, annotations, o.Quota.Spec, o.Limits.Spec})
	if err != nil { // never: they are plain data
		return err.Error()
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

func amounts(table map[string]string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for name, value := range table {
		list[corev1.ResourceName(name)] = resource.MustParse(value) // checked by site.Check
	}
	return list
}

func limits(items []site.Limit) []corev1.LimitRangeItem {
	all := []corev1.LimitRangeItem{}
	for _, item := range items {
		all = append(all, corev1.LimitRangeItem{
			Type: corev1.LimitType(item.Type), Max: amounts(item.Max), Min: amounts(item.Min), Default: amounts(item.Default),
			DefaultRequest: amounts(item.DefaultRequest), MaxLimitRequestRatio: amounts(item.MaxLimitRequestRatio),
		})
	}
	return all
}

func binding(config *site.Config, namespace, account, role string) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{
		TypeMeta: metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "RoleBinding"}, ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: config.SystemNamespace(), Name: account}},
	}
}

// Foreign says why a namespace that is there is not the one wanted; nil: it is.
func Foreign(there, want *corev1.Namespace) error {
	for _, label := range []string{wellknown.LabelManaged, wellknown.LabelTenantOf, wellknown.LabelCluster} {
		if there.Labels[label] != want.Labels[label] {
			return fmt.Errorf("its label %s is %q, not %q", label, there.Labels[label], want.Labels[label])
		}
	}
	for _, annotation := range []string{wellknown.AnnotationNamespace, wellknown.AnnotationUID} {
		if there.Annotations[annotation] != want.Annotations[annotation] {
			return fmt.Errorf("its annotation %s is %q, not %q", annotation, there.Annotations[annotation], want.Annotations[annotation])
		}
	}
	return nil
}

// Selector finds the namespaces of a Slurm cluster (a label's value) that belong to the accounts of
// the site's file.
func Selector(config *site.Config, cluster string) string {
	return strings.Join([]string{
		wellknown.LabelManaged + "=" + wellknown.Managed, wellknown.LabelTenantOf + "=" + config.SystemNamespace(), wellknown.LabelCluster + "=" + cluster,
	}, ",")
}

// Renew are the objects of a namespace that is there, as the site's file has them now: whose it is
// stays, and so do labels and annotations of others. Changed: it was last written by another file.
func Renew(config *site.Config, there *corev1.Namespace) (o Objects, changed bool) {
	whose := map[string]string{}
	for _, annotation := range []string{wellknown.AnnotationNamespace, wellknown.AnnotationUID, wellknown.AnnotationGID} {
		if value, ok := there.Annotations[annotation]; ok {
			whose[annotation] = value
		}
	}
	o = build(config, there.Name, "", whose)
	if o.Namespace.Annotations[wellknown.AnnotationTemplate] == there.Annotations[wellknown.AnnotationTemplate] {
		return o, false
	}
	renewed := there.DeepCopy()
	renewed.TypeMeta = o.Namespace.TypeMeta
	o.Namespace.Labels[wellknown.LabelCluster] = there.Labels[wellknown.LabelCluster]
	if renewed.Annotations == nil {
		renewed.Annotations = map[string]string{}
	}
	maps.Copy(renewed.Labels, o.Namespace.Labels)
	maps.Copy(renewed.Annotations, o.Namespace.Annotations)
	o.Namespace = renewed
	return o, true
}
