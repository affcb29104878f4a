// SPDX-License-Identifier: Apache-2.0

package report

// NoNamespace: nobody has made the job's namespace. made: the site makes those of its pattern, and
// this is not one of them, but that of an earlier run of the job.
func NoNamespace(name string, made bool, refusal error) string {
	what := "the job's namespace %q is not there, or Slurm's nodes have no rights in it (an administrator makes it: slurm-k8s render --namespace)"
	if made {
		what = "namespace %q, where an earlier run of the job was, is not there any more (an administrator may clear the job's AdminComment)"
	}
	return line(refusal.Error(), what, name)
}

// NamespaceWithoutRights: it is there as the site has it, and still of no use.
func NamespaceWithoutRights(name string, refusal error) string {
	return line(refusal.Error(), "the job's namespace %q is there, but Slurm's nodes have no rights in it; tell the administrator", name)
}

// NamespaceNotMade: the credential that makes namespaces did not succeed.
func NamespaceNotMade(name string, err error) string {
	return line(err.Error(), "the job's namespace %q cannot be made; tell the administrator", name)
}

// NamespaceEnds: somebody deletes it, and Kubernetes takes its time.
func NamespaceEnds(name string) string {
	return line("", "the job's namespace %q is being deleted; the job can run when it is gone", name)
}
