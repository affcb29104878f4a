# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# etcd, kube-apiserver, kube-controller-manager, kube-scheduler on loopback; one start function each.
KUBE=$CLUSTER/kube
export KUBECONFIG=$CLUSTER/etc/admin.kubeconfig

api() { # PATH: as admin; quicker than kubectl
	local p=$CLUSTER/etc/pki
	curl -sf --max-time 5 --noproxy '*' --cacert "$p/ca.crt" --cert "$p/admin.crt" --key "$p/admin.key" "$APISERVER$1"
}

kubectl() { "$KUBE/kubectl" --request-timeout=30s "$@"; }

start_etcd() {
	local client=http://127.0.0.1:$PORT_ETCD peer=http://127.0.0.1:$PORT_ETCD_PEER
	need_port "$PORT_ETCD" etcd
	need_port "$PORT_ETCD_PEER" etcd
	spawn etcd "$KUBE/etcd" --name lab --data-dir "$CLUSTER/etcd" --unsafe-no-fsync --log-level warn \
		--listen-client-urls "$client" --advertise-client-urls "$client" \
		--listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" --initial-cluster "lab=$peer"
	await etcd 30 curl -sf --noproxy '*' "$client/health"
}

start_kube_apiserver() {
	local p=$CLUSTER/etc/pki
	need_port "$PORT_APISERVER" kube-apiserver
	# One line for each request's end, and one for the start of each watch or exec.
	put "$CLUSTER/etc/audit-policy.yaml" 644 <<-Y
		apiVersion: audit.k8s.io/v1
		kind: Policy
		omitStages: [RequestReceived]
		rules: [{level: Metadata}]
	Y
	spawn kube-apiserver "$KUBE/kube-apiserver" --etcd-servers="http://127.0.0.1:$PORT_ETCD" \
		--bind-address=127.0.0.1 --secure-port="$PORT_APISERVER" --advertise-address=127.0.0.1 \
		--endpoint-reconciler-type=none --service-cluster-ip-range=10.96.0.0/24 \
		--tls-cert-file="$p/apiserver.crt" --tls-private-key-file="$p/apiserver.key" --client-ca-file="$p/ca.crt" \
		--service-account-issuer=https://kubernetes.default.svc \
		--service-account-key-file="$p/service-account.key" \
		--service-account-signing-key-file="$p/service-account.key" \
		--authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction \
		--kubelet-client-certificate="$p/apiserver-kubelet.crt" --kubelet-client-key="$p/apiserver-kubelet.key" \
		--kubelet-certificate-authority="$p/ca.crt" --kubelet-preferred-address-types=InternalIP,Hostname \
		--audit-policy-file="$CLUSTER/etc/audit-policy.yaml" --audit-log-path="$CLUSTER/log/audit.log" \
		--audit-log-maxsize=500 --audit-log-maxbackup=2
	await kube-apiserver 60 api /readyz
}

start_kube_controller_manager() {
	local p=$CLUSTER/etc/pki
	need_port "$PORT_CONTROLLER_MANAGER" kube-controller-manager
	spawn kube-controller-manager "$KUBE/kube-controller-manager" --kubeconfig="$CLUSTER/etc/controller-manager.kubeconfig" \
		--use-service-account-credentials --service-account-private-key-file="$p/service-account.key" \
		--root-ca-file="$p/ca.crt" --cluster-signing-cert-file="$p/ca.crt" --cluster-signing-key-file="$p/ca.key" \
		--leader-elect=false --bind-address=127.0.0.1 --secure-port="$PORT_CONTROLLER_MANAGER" \
		--kube-api-qps=500 --kube-api-burst=1000
	await kube-controller-manager 60 api /api/v1/namespaces/default/serviceaccounts/default
}

start_kube_scheduler() {
	need_port "$PORT_SCHEDULER" kube-scheduler
	# With its default rate it throttles on 1,000 Pods.
	spawn kube-scheduler "$KUBE/kube-scheduler" --kubeconfig="$CLUSTER/etc/scheduler.kubeconfig" --leader-elect=false \
		--bind-address=127.0.0.1 --secure-port="$PORT_SCHEDULER" --kube-api-qps=2000 --kube-api-burst=4000
	await kube-scheduler 60 curl -skf --noproxy '*' "https://127.0.0.1:$PORT_SCHEDULER/readyz"
}

start_provisioner() { # of volumes for the StorageClass "local"
	kubectl apply -f - >/dev/null <<-Y
		apiVersion: storage.k8s.io/v1
		kind: StorageClass
		metadata: {name: local}
		provisioner: slurm-k8s.test/local
	Y
	spawn provisioner env KUBECONFIG="$CLUSTER/etc/admin.kubeconfig" "$HERE/provisioner" "$CLUSTER/volumes"
	await provisioner 10 test -d "$CLUSTER/volumes"
}
