# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A Kubernetes node: a mount namespace of its own, in it containerd and kubelet. What they mount, and what they
# keep in fixed places outside our folder, goes with the namespace.
NODES=(real1 real2)
NODE_CPUS=${SLURM_K8S_NODE_CPUS:-16}
NODE_GPUS=${SLURM_K8S_NODE_GPUS:-2}
PAUSE_IMAGE=localhost/pause:1

node_number() { echo "${1#real}"; }
node_bridge() { echo "sk8s$INSTANCE-br$(node_number "$1")"; }
node_subnet() { echo "10.213.${INSTANCE:+$INSTANCE}$(node_number "$1")"; }
node_cgroup() { echo "k8s$INSTANCE-$1"; }
node_socket() { echo "$CLUSTER/node/$1/containerd.sock"; }
node_ctr() { # NODE ARGS...
	local n=$1
	shift
	"$KUBE/ctr" --address "$(node_socket "$n")" --namespace k8s.io "$@" 2>>"$CLUSTER/log/ctr.log"
}

# A 2-core machine would hold two jobs at most, so kubelet is shown a sysfs with NODE_CPUS cores. It counts folders, but
# knows a cpu by the number in the name and writes these into cpuset.cpus: so cpu0, cpu00, cpu000 are three cores of cpu 0.
write_fake_cpus() { # NODE
	local s=$CLUSTER/node/$1/sys real i zeros c
	[ ! -e "$s/done" ] || return 0
	real=$(nproc --all)
	mkdir -p "$s/node0"
	for ((i = 0; i < NODE_CPUS || i < real; i++)); do
		printf -v zeros '%0*d' $((i / real + 1)) 0
		c=$s/node0/cpu${zeros%0}$((i % real))
		mkdir -p "$c/topology"
		echo "$i" >"$c/topology/core_id"
		echo 0 >"$c/topology/physical_package_id"
	done
	echo 10 >"$s/node0/distance"
	sed 's/^/Node 0 /' /proc/meminfo >"$s/node0/meminfo"
	: >"$s/done"
}

# Fixed places outside our folder that containerd, CNI and kubelet insist on; the node's namespace has its own.
HIDDEN=(/run/containerd /var/lib/cni /var/log/containers)

start_node() { # NODE: the bridge, the cgroup and the namespace
	local n=$1 d=$CLUSTER/node/$1 b h args=()
	end_node "$n" # what an earlier namespace left
	mkdir -p "$d"/{containerd,state,kubelet,cni,cni-conf,logs,sys}
	for h in "${HIDDEN[@]}"; do
		shared make_folder "$h"
		mkdir -p "$d/hidden$h"
		args+=("$d/hidden$h" "$h")
	done
	shared enable_forwarding
	b=$(node_bridge "$n")
	if ! ip link show "$b" >/dev/null 2>&1; then
		ip link add "$b" type bridge
		ip addr add "$(node_subnet "$n").1/24" dev "$b"
		ip link set "$b" up
	fi
	make_node_cgroup "$(node_cgroup "$n")"
	# Slave, then shared: nothing of ours reaches the machine's namespace, and kubelet's mounts reach containerd's.
	# shellcheck disable=SC2016
	spawn "node-$n" unshare --mount --propagation slave sh -ec '
		ready=$1; shift
		mount --make-rshared /
		while [ $# -gt 0 ]; do mount --bind "$1" "$2"; shift 2; done
		: >"$ready"
		exec sleep infinity' sh "$d/ready" "${args[@]}"
	await "node-$n" 5 test -e "$d/ready"
	rm "$d/ready"
}

make_node_cgroup() { # NAME
	local c f
	if [ "$(stat -fc %T /sys/fs/cgroup)" = cgroup2fs ]; then
		mkdir -p "/sys/fs/cgroup/$1"
		tr ' ' '\n' </sys/fs/cgroup/cgroup.controllers | while read -r c; do
			echo "+$c" >/sys/fs/cgroup/cgroup.subtree_control
			echo "+$c" >"/sys/fs/cgroup/$1/cgroup.subtree_control"
		done
		return
	fi
	for c in /sys/fs/cgroup/*/; do mkdir -p "$c$1"; done
	for f in cpuset.cpus cpuset.mems; do cat "/sys/fs/cgroup/cpuset/$f" >"/sys/fs/cgroup/cpuset/$1/$f"; done
}

in_node() { # NODE: the words that put a command into the node's namespace
	echo nsenter --mount --target "$(pid_of "node-$1")"
}

write_containerd_config() { # NODE
	local n=$1 d=$CLUSTER/node/$1 r
	put "$d/cni-conf/10-bridge.conflist" 644 <<-J
		{"cniVersion": "1.0.0", "name": "lab", "plugins": [{"type": "bridge", "bridge": "$(node_bridge "$n")",
		 "isGateway": true, "ipMasq": false, "ipam": {"type": "host-local", "dataDir": "$d/cni",
		 "ranges": [[{"subnet": "$(node_subnet "$n").0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}
	J
	for r in "$REGISTRY" "$REGISTRY_DENIED"; do
		mkdir -p "$CLUSTER/etc/certs.d/$r"
		put "$CLUSTER/etc/certs.d/$r/hosts.toml" 644 <<-T
			server = "http://$r"
			[host."http://$r"]
			capabilities = ["pull", "resolve"]
		T
	done
	put "$CLUSTER/etc/containerd-$n.toml" 644 <<-T
		version = 3
		root = '$d/containerd'
		state = '$d/state'
		disabled_plugins = ['io.containerd.snapshotter.v1.btrfs', 'io.containerd.snapshotter.v1.zfs',
		 'io.containerd.snapshotter.v1.devmapper', 'io.containerd.snapshotter.v1.erofs',
		 'io.containerd.snapshotter.v1.blockfile', 'io.containerd.internal.v1.opt', 'io.containerd.nri.v1.nri',
		 'io.containerd.tracing.processor.v1.otlp', 'io.containerd.internal.v1.tracing']
		[grpc]
		address = '$(node_socket "$n")'
		[ttrpc]
		address = '$(node_socket "$n").ttrpc'
		# As kubelet's, which hands streams on to it.
		[plugins.'io.containerd.grpc.v1.cri']
		stream_idle_timeout = '30s'
		[plugins.'io.containerd.cri.v1.images'.pinned_images]
		sandbox = '$PAUSE_IMAGE'
		[plugins.'io.containerd.cri.v1.images'.registry]
		config_path = '$CLUSTER/etc/certs.d'
		[plugins.'io.containerd.cri.v1.runtime']
		# Machines without CAP_SYS_RESOURCE cannot lower a score below their own.
		restrict_oom_score_adj = true
		netns_mounts_under_state_dir = true
		[plugins.'io.containerd.cri.v1.runtime'.cni]
		bin_dirs = ['$KUBE']
		conf_dir = '$d/cni-conf'
		[plugins.'io.containerd.cri.v1.runtime'.containerd]
		default_runtime_name = 'runc'
		[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
		runtime_type = 'io.containerd.runc.v2'
		${SANITIZED:+base_runtime_spec = '$CLUSTER/etc/container-base.json'}
		[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
		BinaryName = '$KUBE/runc'
		SystemdCgroup = false
	T
}

start_containerd() { # NODE
	local n=$1
	alive "node-$n" || start_node "$n"
	[ -z "$SANITIZED" ] || write_container_base
	write_containerd_config "$n"
	# shellcheck disable=SC2046
	spawn "containerd-$n" $(in_node "$n") "$KUBE/containerd" -c "$CLUSTER/etc/containerd-$n.toml"
	await "containerd-$n" 20 node_ctr "$n" version
}

load_images() { # NODE: all but "unpulled", so that first jobs are warm
	local n=$1 name layout have
	have=$(node_ctr "$n" images ls -q)
	while read -r name layout; do
		case $name in
		pause)
			grep -qx "$PAUSE_IMAGE" <<<"$have" ||
				tar -C "$layout" -c . | node_ctr "$n" images import --index-name "$PAUSE_IMAGE" - >/dev/null
			;;
		unpulled) ;;
		*)
			grep -qx "$REGISTRY/$(tag_of "$name")" <<<"$have" || pull "$n" "$REGISTRY/$(tag_of "$name")"
			;;
		esac
	done <"$CLUSTER/etc/images"
}

pull() { # NODE IMAGE
	node_ctr "$1" images pull --hosts-dir "$CLUSTER/etc/certs.d" "$2" >/dev/null ||
		die "pulling $2 failed" "$CLUSTER/log/ctr.log"
}

write_kubelet_config() { # NODE
	local n=$1 d=$CLUSTER/node/$1 p=$CLUSTER/etc/pki
	put "$CLUSTER/etc/kubelet-$n.yaml" 644 <<-Y
		apiVersion: kubelet.config.k8s.io/v1beta1
		kind: KubeletConfiguration
		address: $(node_subnet "$n").1
		port: $((PORT_KUBELET + $(node_number "$n")))
		healthzPort: 0
		readOnlyPort: 0
		authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $p/ca.crt}}
		authorization: {mode: Webhook}
		tlsCertFile: $p/$n.crt
		tlsPrivateKeyFile: $p/$n.key
		containerRuntimeEndpoint: unix://$(node_socket "$n")
		cgroupDriver: cgroupfs
		cgroupRoot: /$(node_cgroup "$n")
		failCgroupV1: false
		failSwapOn: false
		enforceNodeAllocatable: [pods]
		maxPods: 110
		clusterDomain: cluster.local
		resolvConf: ""
		evictionHard: {nodefs.available: "1%", imagefs.available: "1%", memory.available: "100Mi"}
		imageGCHighThresholdPercent: 100
		imageGCLowThresholdPercent: 99
		makeIPTablesUtilChains: false
		# 4 hours by default; a site may have it short, and an exec stream must not be idle for long.
		streamingConnectionIdleTimeout: 30s
		# A pull that hangs in one test holds up no other.
		serializeImagePulls: false
		# Else images loaded beforehand are pulled again.
		imagePullCredentialsVerificationPolicy: NeverVerify
		podLogsDir: $d/logs
		volumePluginDir: $d/volumeplugins
	Y
}

start_kubelet() { # NODE
	local n=$1 d=$CLUSTER/node/$1
	alive "node-$n" || die "node-$n is down; run tests/cluster/up"
	need_port $((PORT_KUBELET + $(node_number "$n"))) "kubelet-$n"
	make_node_pki "$n" "$(node_subnet "$n").1"
	write_kubelet_config "$n"
	write_fake_cpus "$n"
	# /sys is private before the fake goes there: neither the node's containers nor the machine see it.
	# shellcheck disable=SC2016,SC2046
	spawn "kubelet-$n" $(in_node "$n") unshare --mount --propagation unchanged sh -ec '
		fake=$1; shift
		mount --make-private /sys
		mount --bind "$fake" /sys/devices/system/node
		exec "$@"' sh "$d/sys" \
		"$KUBE/kubelet" --config="$CLUSTER/etc/kubelet-$n.yaml" --kubeconfig="$CLUSTER/etc/kubelet-$n.kubeconfig" \
		--hostname-override="$n" --node-ip="$(node_subnet "$n").1" --root-dir="$d/kubelet" --cert-dir="$d/kubelet/pki"
	await "kubelet-$n" 60 node_ready "$n"
	advertise_gpus "$n"
}

node_ready() { # NODE: ready, as told by the kubelet that runs now
	api "/api/v1/nodes/$1" | jq -e --argjson since "$(stat -c %Y "$CLUSTER/run/kubelet-$1.pid")" '
		.status.conditions[]? | select(.type == "Ready" and .status == "True" and
		(.lastHeartbeatTime | fromdate) >= $since)'
}

advertise_gpus() { # NODE: kubelet keeps extended resources that others patch in, but not over a new registration
	local gpus="{\"nvidia.com/gpu\": \"$NODE_GPUS\"}"
	[ "$(api "/api/v1/nodes/$1" | jq -r '.status.allocatable["nvidia.com/gpu"] // 0')" = "$NODE_GPUS" ] ||
		kubectl patch node "$1" --subresource=status --type=merge \
			-p "{\"status\": {\"capacity\": $gpus, \"allocatable\": $gpus}}" >/dev/null
}

end_node() { # NODE: its daemons, containers, shims, namespace, cgroup and bridge
	local n=$1
	end "kubelet-$n" 3
	end "containerd-$n" 3
	kill_all cgroup_pids "$(node_cgroup "$n")"
	kill_all node_shims "$n"
	cgroup_remove "$(node_cgroup "$n")"
	end "node-$n" 0
	! ip link show "$(node_bridge "$n")" >/dev/null 2>&1 || ip link del "$(node_bridge "$n")"
}

node_shims() { # NODE: shims outlive containerd; each names its containerd's socket
	local p
	for p in $(marked); do
		if { tr "\0" "\n" <"/proc/$p/cmdline"; } 2>/dev/null | grep -qxF "$(node_socket "$1")"; then echo "$p"; fi
	done
}
