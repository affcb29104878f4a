// kube-all is a whole Kubernetes in one binary: the name it is called by, or
// else its first argument, picks the component. One binary links once and
// shares most of its 200 MB.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/restclient"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	kcm "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func main() {
	name := filepath.Base(os.Args[0])
	known := map[string]func() *cobra.Command{
		"kube-apiserver":          func() *cobra.Command { return apiserver.NewAPIServerCommand() },
		"kube-controller-manager": func() *cobra.Command { return kcm.NewControllerManagerCommand() },
		"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
		"kubelet":                 func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) },
		"kubectl":                 func() *cobra.Command { return kubectl.NewDefaultKubectlCommand() },
	}
	if _, ok := known[name]; !ok && name != "etcd" {
		if len(os.Args) < 2 {
			fmt.Fprintln(os.Stderr, "usage: kube-all etcd|kube-apiserver|kube-controller-manager|kube-scheduler|kubelet|kubectl ...")
			os.Exit(2)
		}
		name = os.Args[1]
		os.Args = os.Args[1:]
	}
	if name == "etcd" {
		etcdmain.Main(os.Args)
		return
	}
	mk, ok := known[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "kube-all: unknown component %q\n", name)
		os.Exit(2)
	}
	if name == "kubectl" {
		if err := cli.RunNoErrOutput(mk()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(cli.Run(mk()))
}
