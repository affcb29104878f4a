// SPDX-License-Identifier: Apache-2.0
#include "option_table.h"

/* Slurm's name of an option in the environment of a job. */
#define SLURM_OPTION(name) "_SLURM_SPANK_OPTION_" PLUGIN_NAME "_" name

struct spank_option option_table[OPTION_COUNT] = {
	[OPTION_IMAGE] = {
		.name = "k8s-image",
		.arginfo = "IMAGE",
		.usage = "[k8s] run the script of sbatch, the tasks of srun, in Kubernetes Pods of this container "
			 "image, as in registry.example:5000/team/app:1.2",
		.has_arg = 1, .val = OPTION_IMAGE,
	},
	[OPTION_WORKDIR] = {
		.name = "k8s-workdir",
		.arginfo = "PATH",
		.usage = "[k8s] start in this directory of the container, an absolute path, instead of the "
			 "job's own",
		.has_arg = 1, .val = OPTION_WORKDIR,
	},
	[OPTION_SCOPE] = {
		.name = "k8s-scope",
		.arginfo = "job|steps",
		.usage = "[k8s] what of a batch job goes to Pods: its script (job, the default), or the steps that "
			 "srun starts in the script, which stays on the Slurm node (steps)",
		.has_arg = 1, .val = OPTION_SCOPE,
	},
	[OPTION_RENDEZVOUS] = {
		.name = "k8s-rendezvous",
		.arginfo = "none|pytorch",
		.usage = "[k8s] give the tasks of srun the variables by which PyTorch finds the others, or not, "
			 "whatever the site's default is",
		.has_arg = 1, .val = OPTION_RENDEZVOUS,
	},
	[OPTION_NODE_SELECTOR] = {
		.name = "k8s-node-selector",
		.arginfo = "K=V,...",
		.usage = "[k8s] only on Kubernetes nodes with these labels (KEY=VALUE), of those that the site lets "
			 "jobs choose",
		.has_arg = 1, .val = OPTION_NODE_SELECTOR,
	},
	[OPTION_PULL_SECRET] = {
		.name = "k8s-pull-secret",
		.arginfo = "FILE",
		.usage = "[k8s] pull the image with the password in this Docker configuration of your own, an "
			 "absolute path on the Slurm node, mode 0600",
		.has_arg = 1, .val = OPTION_PULL_SECRET,
	},
	[OPTION_MOUNT] = {
		.name = "k8s-mount",
		.arginfo = "NAME[:PATH][:ro]",
		.usage = "[k8s] mount volumes of the site, with a comma between, at their own paths or at these, "
			 "read-only or as the site has them",
		.has_arg = 1, .val = OPTION_MOUNT,
	},
	[OPTION_PVC] = {
		.name = "k8s-pvc",
		.arginfo = "SIZE[:CLASS][:PATH]",
		.usage = "[k8s] make a volume of this size for the Pod, as 100Gi, which goes with it, or "
			 "(SIZE...:keep) stays; or mount the one that a job has kept (job:ID[:PATH])",
		.has_arg = 1, .val = OPTION_PVC,
	},
	[OPTION_JOIN] = {
		.name = "k8s-join",
		.arginfo = "STEP",
		.usage = "[k8s] srun: run the tasks in the running container of the job's script, or (=STEP, "
			 "which may be left out) of a step of the job on the same Slurm node",
		.has_arg = 2, .val = OPTION_JOIN,
	},
	[OPTION_CLUSTER] = {
		.name = "k8s-cluster",
		.arginfo = "NAME|auto",
		.usage = "[k8s] the Kubernetes cluster, by its name at this site, or the first of them that has "
			 "room (auto)",
		.has_arg = 1, .val = OPTION_CLUSTER,
	},
};

const struct option_names option_names[OPTION_COUNT] = {
	[OPTION_IMAGE] = { .key = "image", .variable = "SLURM_K8S_IMAGE", .slurm = SLURM_OPTION("k8s_image") },
	[OPTION_WORKDIR] = { .key = "workdir", .variable = "SLURM_K8S_WORKDIR", .slurm = SLURM_OPTION("k8s_workdir") },
	[OPTION_SCOPE] = {
		.key = "scope", .variable = "SLURM_K8S_SCOPE", .slurm = SLURM_OPTION("k8s_scope"),
		.words = { "job", SCOPE_STEPS },
	},
	[OPTION_RENDEZVOUS] = {
		.key = "rendezvous", .variable = "SLURM_K8S_RENDEZVOUS", .slurm = SLURM_OPTION("k8s_rendezvous"),
		.words = { "none", "pytorch" },
	},
	[OPTION_NODE_SELECTOR] = {
		.key = "node-selector", .variable = "SLURM_K8S_NODE_SELECTOR", .slurm = SLURM_OPTION("k8s_node_selector"),
	},
	[OPTION_PULL_SECRET] = {
		.key = "pull-secret", .variable = "SLURM_K8S_PULL_SECRET", .slurm = SLURM_OPTION("k8s_pull_secret"),
	},
	[OPTION_MOUNT] = { .key = "mount", .variable = "SLURM_K8S_MOUNT", .slurm = SLURM_OPTION("k8s_mount") },
	[OPTION_PVC] = { .key = "pvc", .variable = "SLURM_K8S_PVC", .slurm = SLURM_OPTION("k8s_pvc") },
	[OPTION_JOIN] = { .key = "join", .slurm = SLURM_OPTION("k8s_join") },
	[OPTION_CLUSTER] = { .key = "cluster", .variable = "SLURM_K8S_CLUSTER", .slurm = SLURM_OPTION("k8s_cluster") },
};
