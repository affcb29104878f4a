// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// bareClient does with a Pod the least that a job needs: create, watch, read, delete.
type bareClient struct {
	client  rest.Interface // of core/v1
	number  atomic.Int64
	allowed func() // may another Pod be made
}

// bareSpace is the namespace of its Pods.
const bareSpace = "default"

// bareLabel is on all of them.
const bareLabel = "slurm-k8s-bench/bare"

// newBare is one whose Pods are gone when the bench is.
func newBare(b *bench) (*bareClient, error) {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return nil, err
	}
	config.Proxy = http.ProxyURL(nil)
	config.QPS = -1
	config.APIPath, config.GroupVersion, config.NegotiatedSerializer = "/api", &corev1.SchemeGroupVersion, scheme.Codecs.WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, err
	}
	_, err = b.changes.make("the Pods of a bare client", func() error { return nil }, func() error {
		return client.Delete().Namespace(bareSpace).Resource("pods").VersionedParams(&metav1.ListOptions{LabelSelector: bareLabel}, scheme.ParameterCodec).
			Body(&metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}).Timeout(time.Minute).Do(context.Background()).Error()
	})
	return &bareClient{client: client, allowed: b.changes.allowed}, err
}

func (c *bareClient) pod(script string) *corev1.Pod {
	name := fmt.Sprintf("bare-%d-%d", os.Getpid(), c.number.Add(1))
	limits := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("100Mi")}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{bareLabel: "yes"}},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: new(int64(1)),
			Containers: []corev1.Container{{
				Name: "job", Image: os.Getenv("IMAGE_TINY"), Command: []string{"sh", "-c", script},
				Resources:    corev1.ResourceRequirements{Limits: limits},
				VolumeMounts: []corev1.VolumeMount{{Name: "run", MountPath: "/run"}},
			}},
			Volumes: []corev1.Volume{{Name: "run", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}}},
		},
	}
}

// run returns when the Pod has ended well, its log is read and its deletion is asked for.
func (c *bareClient) run(ctx context.Context, script string) error {
	_, err := c.copyLog(ctx, script, io.Discard)
	return err
}

// copyLog runs a script in a Pod and gives the bytes of its log that arrived.
func (c *bareClient) copyLog(ctx context.Context, script string, to io.Writer) (int64, error) {
	c.allowed()
	pod := &corev1.Pod{}
	if err := c.client.Post().Namespace(bareSpace).Resource("pods").Body(c.pod(script)).Do(ctx).Into(pod); err != nil {
		return 0, err
	}
	defer c.client.Delete().Namespace(bareSpace).Resource("pods").Name(pod.Name).
		Body(&metav1.DeleteOptions{GracePeriodSeconds: new(int64(1))}).Do(context.WithoutCancel(ctx))
	watch, err := c.client.Get().Namespace(bareSpace).Resource("pods").VersionedParams(&metav1.ListOptions{
		Watch: true, FieldSelector: fields.OneTermEqualSelector("metadata.name", pod.Name).String(), ResourceVersion: pod.ResourceVersion,
	}, scheme.ParameterCodec).Watch(ctx)
	if err != nil {
		return 0, err
	}
	defer watch.Stop()
	var read int64
	following := false
	for event := range watch.ResultChan() {
		state, ok := event.Object.(*corev1.Pod)
		if !ok {
			return read, fmt.Errorf("the watch of Pod %s broke: %v", pod.Name, event.Object)
		}
		if !following && state.Status.Phase != corev1.PodPending {
			following = true
			log, err := c.client.Get().Namespace(bareSpace).Resource("pods").Name(pod.Name).SubResource("log").Param("follow", "true").Stream(ctx)
			if err != nil {
				return 0, err
			}
			read, err = io.Copy(to, log)
			log.Close()
			if err != nil {
				return read, err
			}
		}
		switch state.Status.Phase {
		case corev1.PodSucceeded:
			return read, nil
		case corev1.PodFailed:
			return read, fmt.Errorf("the Pod %s failed: %s", pod.Name, state.Status.Message)
		}
	}
	return read, fmt.Errorf("the watch of Pod %s ended", pod.Name)
}
