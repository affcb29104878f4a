# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# deploy/ in a running cluster, and credentials of its accounts.

token_kubeconfig() { # NAME MODE: of ServiceAccount slurm-k8s-NAME
	local token
	if ! api "/api/v1/namespaces/slurm/serviceaccounts/slurm-k8s-$1" >/dev/null; then
		say "install: no ServiceAccount slurm-k8s-$1, no $1.kubeconfig"
		return
	fi
	token=$(kubectl create token "slurm-k8s-$1" -n slurm --duration=24h)
	write_kubeconfig "$CLUSTER/etc/$1.kubeconfig" "$2" "token: $token"
}

apply_deploy() { # FOLDER...
	local folder
	for folder; do
		kubectl apply -k "$REPO/$folder" >"$CLUSTER/log/deploy.log" 2>&1 ||
			die "kubectl apply -k $folder failed" "$CLUSTER/log/deploy.log"
	done
}
