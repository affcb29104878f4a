// SPDX-License-Identifier: Apache-2.0

package fakekubelet

import (
	"context"
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Label and taint, with the value "yes": Pods that want the one and tolerate the other go to a fake kubelet's node, and
// no others.
const (
	Label = "slurm-k8s-test/fake-kubelet"
	Taint = "slurm-k8s-test/fake-kubelet"
)

// heartbeat is more often than kube-controller-manager's patience of 50 s.
const heartbeat = 10 * time.Second

// node is ours as kubelet registers it, as large as Pods may want.
func (k *Kubelet) node() *corev1.Node {
	give := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("100000"),
		corev1.ResourceMemory:           resource.MustParse("100Ti"),
		corev1.ResourcePods:             resource.MustParse("100000"),
		corev1.ResourceEphemeralStorage: resource.MustParse("100Ti"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: k.Name, Labels: map[string]string{
			Label: "yes", corev1.LabelHostname: k.Name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
		}},
		Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: Taint, Value: "yes", Effect: corev1.TaintEffectNoSchedule}}},
		Status: corev1.NodeStatus{
			Capacity: give, Allocatable: give, Conditions: ready(),
			Addresses:       []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: k.address.IP.String()}, {Type: corev1.NodeHostName, Address: k.Name}},
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: int32(k.address.Port)}},
			NodeInfo:        corev1.NodeSystemInfo{OperatingSystem: "linux", Architecture: "amd64", ContainerRuntimeVersion: "fake://1"},
			// Else kube-apiserver turns each websocket into SPDY.
			DeclaredFeatures: []string{"ExtendWebSocketsToKubelet"},
		},
	}
}

func ready() []corev1.NodeCondition {
	now := metav1.Now()
	return []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "a fake kubelet",
		LastHeartbeatTime: now, LastTransitionTime: now,
	}}
}

// beat tells again and again that the node is alive, until ctx ends.
func (k *Kubelet) beat(ctx context.Context) {
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		patch, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": ready()}})
		if err == nil {
			err = k.Client.Patch(types.StrategicMergePatchType).Resource("nodes").Name(k.Name).SubResource("status").Body(patch).Do(ctx).Error()
		}
		if err != nil && ctx.Err() == nil {
			k.Log("the node's heartbeat: " + err.Error())
		}
	}
}
