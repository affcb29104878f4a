// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/slurm-k8s/slurm-k8s/gocore/internal/collector"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/identity"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/job"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/option"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/podspec"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/site"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/submission"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/tenant"
	"github.com/slurm-k8s/slurm-k8s/gocore/internal/wellknown"
)

// render prints the objects that a job file would get, and makes none.
func render(ctx context.Context, arguments []string, out, faults io.Writer) int {
	flags := newFlags("render", faults)
	path := flags.String("config", defaultConfig, "the site's configuration, a `FILE` (default: "+defaultConfig+")")
	libexec := flags.String("libexec", defaultLibexec, "the `DIRECTORY` of podinit (default: "+defaultLibexec+")")
	name := flags.String("user", identity.Me(), "whose job it is, a `USER` of this machine (default: who runs this)")
	id := flags.Uint("job-id", 1, "the first job's `NUMBER` (default: 1)")
	withNamespace := flags.Bool("namespace", false, "print the job's namespace too, with what belongs in it; without a job file it alone")
	account := flags.String("account", "", "the job's `ACCOUNT`, for --namespace without a job file")
	withPodinit := flags.Bool("podinit", false, "print the ConfigMap with podinit too")
	given := ownFlags(flags)
	if code, done := parse(flags, arguments, out, faults); done {
		return code
	}
	if flags.NArg() == 0 && !*withNamespace {
		fmt.Fprintln(faults, "slurm-k8s render: a job file is wanted (try: slurm-k8s render --help)")
		return exitUsage
	}
	config, err := site.Load(*path)
	if err != nil {
		return complain(faults, "render", err.Error())
	}
	podinit, err := os.ReadFile(*libexec + "/podinit")
	if err != nil {
		return complain(faults, "render", fmt.Sprintf("podinit cannot be read: %v (--libexec=DIRECTORY says where it is)", err))
	}
	r := renderer{config: config, podinit: podinit, user: *name, options: ownGiven(flags, given)}
	r.withNamespace, r.withPodinit, r.printed = *withNamespace, *withPodinit, map[string]bool{}
	if *withNamespace {
		if r.cluster, err = clusterName(ctx, config, collector.Commands{}); err != nil {
			return complain(faults, "render", "--namespace: "+err.Error()+" (cluster in the site's file says it too)")
		}
	}
	var texts []string
	if flags.NArg() == 0 {
		if texts, err = r.namespaceOf(*account); err != nil {
			return complain(faults, "render", "--namespace: "+err.Error())
		}
	}
	code := exitOK
	for i, file := range flags.Args() {
		text, err := r.file(file, *id+uint(i))
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				code = complain(faults, "render", file+": "+line)
			}
			continue
		}
		texts = append(texts, text...)
	}
	if code == exitOK { // all of them, or none that kubectl would apply
		fmt.Fprint(out, strings.Join(texts, "---\n"))
	}
	return code
}

// renderer has what the Pods of several job files have in common.
type renderer struct {
	config  *site.Config
	podinit []byte
	user    string
	options map[string]string // of the command line

	cluster                    string // Slurm's name, where the namespace is wanted
	withNamespace, withPodinit bool
	printed                    map[string]bool // namespaces whose objects are printed
}

// file are the objects of one job file, each as YAML that kubectl takes: those of its namespace
// that are wanted and have not been printed, the volume claim that it keeps, and the Pod.
func (r renderer) file(file string, id uint) ([]string, error) {
	request, _, err := requestOf(file, r.config, r.options)
	if err != nil {
		return nil, err
	}
	if request.Options[option.Image] == "" || !request.Wanted() {
		return nil, fmt.Errorf("has no %s: the job would not run in a Pod", option.Flag(option.Image))
	}
	j, err := jobOf(request, r.user, id)
	if err != nil {
		return nil, err
	}
	if name := j.Options.Cluster; name != "" {
		if err := option.CheckCluster(name, r.config); err != nil {
			return nil, err
		}
	}
	unclear := request.Sketch(&j)
	places := request.Places(r.config)
	if len(places) > 1 {
		unclear = append(unclear, fmt.Sprintf("the cluster: as in %q", places[0].Kubernetes))
	}
	if j.Namespace, err = j.NamespaceOf(places[0]); err != nil {
		return nil, err
	}
	texts, err := r.around(places[0], j.Namespace)
	if err != nil {
		return nil, err
	}
	pod, err := podspec.Build(podspec.Input{
		Job: j, Site: places[0], Session: 1, PodinitConfigMap: wellknown.PodinitConfigMap(r.podinit), Directory: identity.System{},
		GPUs: j.SampleGPUs(),
	})
	if err != nil {
		return nil, err
	}
	text, err := manifest(pod)
	if err != nil {
		return nil, err
	}
	if claim := j.Options.Claim; claim != nil && claim.Keep {
		before, err := manifest(podspec.KeptClaim(j, places[0]))
		if err != nil {
			return nil, err
		}
		texts = append(texts, before)
	}
	head := fmt.Sprintf("# %s\n", strconv.Quote(file))
	if len(unclear) > 0 {
		head += fmt.Sprintf("# not in the job file: %s\n", strings.Join(unclear, "; "))
	}
	return append(texts, head+text), nil
}

// namespaceOf are the objects of the user's namespace, or of the account's.
func (r renderer) namespaceOf(account string) ([]string, error) {
	who, err := identity.Of(r.user)
	if err != nil {
		return nil, fmt.Errorf("--user: %w: %q", err, r.user)
	}
	config := submission.Request{Options: r.options}.Places(r.config)[0]
	if !config.ByPattern() {
		return nil, fmt.Errorf("it is fixed, and deploy/ makes it: %q", config.Namespace)
	}
	place, err := config.NamespaceOf(site.Owner{User: who.Name, Account: account, Cluster: r.cluster, UID: who.UID, GID: who.GID})
	if err != nil {
		return nil, err
	}
	return r.around(config, place)
}

// around are the objects that the Pod's namespace needs beside it.
func (r renderer) around(config *site.Config, place site.Namespace) ([]string, error) {
	if r.printed[place.Name] {
		return nil, nil
	}
	r.printed[place.Name] = true
	var objects []any
	if r.withNamespace && config.ByPattern() {
		place.Owner.Cluster = r.cluster
		made := tenant.Build(config, place)
		objects = append(objects, made.Namespace, made.Quota, made.Limits)
		for _, binding := range made.Bindings {
			objects = append(objects, binding)
		}
	}
	if r.withPodinit {
		objects = append(objects, podinitObject(place.Name, r.podinit))
	}
	texts := make([]string, len(objects))
	for i, object := range objects {
		text, err := manifest(object)
		if err != nil {
			return nil, err
		}
		texts[i] = text
	}
	return texts, nil
}

// manifest is an object without a status, as kubectl takes it.
func manifest(object any) (string, error) {
	text, err := yaml.Marshal(object)
	return strings.TrimSuffix(string(text), "status: {}\n"), err
}

// jobOf is the start request of a batch job, checked as on the Slurm node.
func jobOf(request submission.Request, name string, id uint) (job.Job, error) {
	account, err := identity.Of(name)
	if err != nil {
		return job.Job{}, fmt.Errorf("--user: %w: %q", err, name)
	}
	groups := make([]string, len(account.GIDs))
	for i, gid := range account.GIDs {
		groups[i] = strconv.FormatUint(uint64(gid), 10)
	}
	fields := []string{
		"step_id=" + wellknown.StepBatch, "cluster=cluster", "node=node", "cpus=1",
		fmt.Sprintf("job_id=%d", id), fmt.Sprintf("uid=%d", account.UID), fmt.Sprintf("gid=%d", account.GID),
		"groups=" + strings.Join(groups, ","), "user=" + account.Name, "home=" + account.Home,
	}
	for name, value := range request.Options {
		fields = append(fields, "option."+name+"="+value)
	}
	return job.FromFields(fields)
}

func podinitObject(namespace string, podinit []byte) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: wellknown.PodinitConfigMap(podinit)},
		Immutable:  new(true), BinaryData: map[string][]byte{wellknown.PodinitKey: podinit},
	}
}
