// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/stream"
)

// A directory on a volume of the site's must exist: elsewhere the job would write its files
// where nobody looks for them.
func TestDirectoryOnAVolumeMustExist(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{VolumeMounts: []corev1.VolumeMount{
		{Name: "run", MountPath: "/.slurm-k8s/run"}, {Name: "site-home", MountPath: "/home"},
	}}}}}
	for directory, want := range map[string]bool{"/home/alice": true, "/home": true, "/homes": false, "/tmp": false, "": false} {
		s := &Step{Config: Config{Site: site.Default()}, launches: []stream.Launch{{Directory: directory}}, pod: &followed{last: pod}}
		launch := s.prepared()[0]
		assert.Equal(t, want, launch.Required, directory)
		assert.Equal(t, directory, launch.Directory)
		s.pod = nil
		assert.False(t, s.prepared()[0].Required, directory)
		s.Job.Options.Workdir = "/data"
		assert.True(t, s.prepared()[0].Required)
	}
}
