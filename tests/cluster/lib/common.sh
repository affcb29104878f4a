# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034 # used by those that source it
# Where everything is, how the scripts speak, and the lock they share.
set -euo pipefail
export LC_ALL=C.UTF-8
umask 022

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
REPO=$(cd "$HERE/../.." && pwd)
# 1 to 9: a second cluster with bridges, cgroups, ports and job ids of its own, beside the first. The names of Slurm's
# cgroups follow its nodes' and are not apart: the job ids keep what is in them apart.
INSTANCE=${SLURM_K8S_INSTANCE:-}
# The plugin reads SLURM_K8S_CLUSTER, which once was this one's name.
case ${SLURM_K8S_CLUSTER:-} in /*) SLURM_K8S_LAB=${SLURM_K8S_LAB:-$SLURM_K8S_CLUSTER} ;; esac
unset SLURM_K8S_CLUSTER
CLUSTER=${SLURM_K8S_LAB:-/var/tmp/slurm-k8s-cluster$INSTANCE}
CACHE=${SLURM_K8S_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/slurm-k8s}
export SLURM_K8S_LAB=$CLUSTER SLURM_K8S_CACHE=$CACHE

PORT_BASE=${SLURM_K8S_PORT_BASE:-$((17800 + 20 * ${INSTANCE:-0}))}
PORT_ETCD=$((PORT_BASE + 1))
PORT_ETCD_PEER=$((PORT_BASE + 2))
PORT_APISERVER=$((PORT_BASE + 3))
PORT_CONTROLLER_MANAGER=$((PORT_BASE + 4))
PORT_SCHEDULER=$((PORT_BASE + 5))
PORT_KUBELET=$((PORT_BASE + 5))  # + the node's number
PORT_REGISTRY=$((PORT_BASE + 8))
PORT_REGISTRY_DENIED=$((PORT_BASE + 9))
PORT_MARIADB=$((PORT_BASE + 10))
PORT_SLURMDBD=$((PORT_BASE + 11))
PORT_SLURMCTLD=$((PORT_BASE + 12))
PORT_SLURMD=$((PORT_BASE + 12))  # + the node's number
APISERVER=https://127.0.0.1:$PORT_APISERVER
REGISTRY=127.0.0.1:$PORT_REGISTRY
REGISTRY_DENIED=127.0.0.1:$PORT_REGISTRY_DENIED

# Clocks are in microseconds. Children count from the same start.
now() { echo "${EPOCHREALTIME/./}"; }
T0=${SLURM_K8S_T0:-$(now)}
export SLURM_K8S_T0=$T0

tenths() { printf '%d.%d' $(($1 / 1000000)) $(($1 / 100000 % 10)); }
say() { printf '[%5ss] %s\n' "$(tenths $(($(now) - T0)))" "$*"; }

timed() { # TEXT COMMAND...: run COMMAND, then say TEXT and the time it took
	local text=$1 t
	t=$(now)
	shift
	"$@"
	say "$text ($(tenths $(($(now) - t))) s)"
}

die() { # MESSAGE [LOG]: one line, and the end of the log
	if [ -n "${2:-}" ]; then
		printf '%s: %s; log: %s\n' "${0##*/}" "$1" "$2" >&2
		tail -n "${TAIL:-8}" "$2" 2>/dev/null | sed 's/^/    /' >&2 || true
	else
		printf '%s: %s\n' "${0##*/}" "$1" >&2
	fi
	exit 1
}

put() { # FILE MODE [OWNER]: FILE's content from stdin, replaced whole and only if it differs
	local temp=$1.new.$BASHPID # two nodes may put the same
	(umask 077; cat >"$temp")
	chmod "$2" "$temp"
	[ -z "${3:-}" ] || chown "$3" "$temp"
	if cmp -s "$temp" "$1"; then rm -f "$temp"; else mv -f "$temp" "$1"; fi
}

need_root() { [ "$(id -u)" = 0 ] || die "must run as root: it starts daemons, bridges and cgroups"; }

claim_cluster() { # make the folder ours, or refuse one that is not
	[ ${#CLUSTER} -le 60 ] || die "SLURM_K8S_LAB is too long for sockets in it: $CLUSTER"
	case $CLUSTER in /*) ;; *) die "SLURM_K8S_LAB must be absolute: $CLUSTER" ;; esac
	mkdir -p "$CLUSTER"
	if [ ! -e "$CLUSTER/.slurm-k8s-cluster" ] && [ -n "$(ls -A "$CLUSTER")" ]; then
		die "$CLUSTER is neither empty nor a cluster of ours"
	fi
	: >"$CLUSTER/.slurm-k8s-cluster"
	[ -e "$CLUSTER/etc/slurm.conf" ] || rm -rf "$CLUSTER/log" # of an earlier cluster
	mkdir -p "$CLUSTER"/{bin,etc,lib,libexec,log,run}
}

need_cluster() { [ -e "$CLUSTER/etc/slurm.conf" ] || die "no cluster in $CLUSTER; start one with tests/cluster/up"; }

lock_cluster() { # one of up, down, start, stop, node at a time; fd 9 stays open until exit
	[ "${SLURM_K8S_LOCKED:-}" != "$CLUSTER" ] || return 0
	exec 9<"$CLUSTER"
	flock -n 9 || { say "waiting for another up, down, start or stop"; flock -w 300 9 || die "could not lock $CLUSTER in 300 s"; }
	export SLURM_K8S_LOCKED=$CLUSTER
}
