// SPDX-License-Identifier: Apache-2.0

package podspec

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// NamePullSecret names the Secret of the Pod's user, by the Pod's name and a number of its own.
func NamePullSecret(pod *corev1.Pod, number uint64) {
	pod.Spec.ImagePullSecrets[len(pod.Spec.ImagePullSecrets)-1].Name = wellknown.PullSecretName(pod.Name, number)
}

// PullSecret makes the Secret that a Pod which is there pulls with: it goes when the Pod goes.
// data is a Docker configuration (option.ReadPullSecret).
func PullSecret(pod *corev1.Pod, data []byte) *corev1.Secret {
	secrets := pod.Spec.ImagePullSecrets
	return &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{
			Name: secrets[len(secrets)-1].Name, Namespace: pod.Namespace,
			Labels: map[string]string{
				wellknown.LabelApp: pod.Labels[wellknown.LabelApp], wellknown.LabelJobID: pod.Labels[wellknown.LabelJobID],
			},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}},
		},
		Immutable: new(true),
		Type:      corev1.SecretTypeDockerConfigJson,
		Data:      map[string][]byte{corev1.DockerConfigJsonKey: data},
	}
}
