# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Every daemon by name.
. "$HERE/lib/process.sh"
. "$HERE/lib/sanitized.sh"
. "$HERE/lib/shared.sh"
. "$HERE/lib/slurm.sh"
. "$HERE/lib/pki.sh"
. "$HERE/lib/control-plane.sh"
. "$HERE/lib/registry.sh"
. "$HERE/lib/node.sh"

# In the order in which they need each other.
DAEMONS=(munged mariadb slurmdbd slurmctld slurmd-n1 slurmd-n2
	etcd kube-apiserver kube-controller-manager kube-scheduler provisioner registry registry-denied
	node-real1 containerd-real1 kubelet-real1 node-real2 containerd-real2 kubelet-real2)

start_daemon() { # NAME
	case $1 in
	slurmd-* | containerd-* | kubelet-* | node-*) "start_${1%%-*}" "${1#*-}" ;;
	*) "start_${1//-/_}" ;;
	esac
}

in_order() { # NAME...: in the order in which they need each other
	printf '%s\n' "${DAEMONS[@]}" | grep -xF -f <(printf '%s\n' "$@")
}

ensure() { # NAME...: start those that are not running, saying so
	local name
	for name; do
		if alive "$name"; then say "$name is running"; else timed "$name ready" start_daemon "$name"; fi
	done
}

need_daemon() { # NAME: or a usage error
	printf '%s\n' "${DAEMONS[@]}" | grep -qxF -- "${1:-}" || die "unknown daemon '${1:-}'; there are: ${DAEMONS[*]}"
}
