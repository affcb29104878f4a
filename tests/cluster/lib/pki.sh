# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Certificates and kubeconfigs in etc/pki and etc/.

make_key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1"; }

make_cert() { # NAME SUBJECT [SUBJECT-ALT-NAMES]
	local p=$CLUSTER/etc/pki/$1
	[ ! -e "$p.crt" ] || return 0
	make_key "$p.key"
	openssl req -new -key "$p.key" -subj "$2" -out "$p.csr"
	printf 'keyUsage=digitalSignature,keyEncipherment\nextendedKeyUsage=serverAuth,clientAuth\n%s\n' \
		"${3:+subjectAltName=$3}" >"$p.ext"
	openssl x509 -req -in "$p.csr" -CA "$CLUSTER/etc/pki/ca.crt" -CAkey "$CLUSTER/etc/pki/ca.key" \
		-set_serial "0x$(openssl rand -hex 8)" -days 3650 -extfile "$p.ext" -out "$p.new" 2>/dev/null
	mv "$p.new" "$p.crt"
	rm "$p.csr" "$p.ext"
}

write_kubeconfig() { # FILE MODE USER-YAML
	put "$1" "$2" <<-Y
		apiVersion: v1
		kind: Config
		clusters: [{name: lab, cluster: {server: "$APISERVER", certificate-authority-data: $(base64 -w0 "$CLUSTER/etc/pki/ca.crt")}}]
		users: [{name: lab, user: {$3}}]
		contexts: [{name: lab, context: {cluster: lab, user: lab}}]
		current-context: lab
	Y
}

cert_kubeconfig() { # NAME CERTIFICATE
	local p=$CLUSTER/etc/pki/$2
	write_kubeconfig "$CLUSTER/etc/$1.kubeconfig" 600 \
		"client-certificate-data: $(base64 -w0 "$p.crt"), client-key-data: $(base64 -w0 "$p.key")"
}

make_pki() {
	local d=$CLUSTER/etc/pki n
	mkdir -p "$d"
	chmod 700 "$d"
	if [ ! -e "$d/ca.crt" ]; then
		make_key "$d/ca.key"
		openssl req -x509 -new -key "$d/ca.key" -subj /CN=lab-ca -days 3650 -out "$d/ca.crt"
	fi
	[ -e "$d/service-account.key" ] || make_key "$d/service-account.key"
	make_cert apiserver /CN=kube-apiserver \
		IP:127.0.0.1,IP:10.96.0.1,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc
	make_cert apiserver-kubelet /O=system:masters/CN=apiserver-kubelet-client
	make_cert admin /O=system:masters/CN=admin
	make_cert controller-manager /CN=system:kube-controller-manager
	make_cert scheduler /CN=system:kube-scheduler
	for n in admin controller-manager scheduler; do cert_kubeconfig "$n" "$n"; done
}

make_node_pki() { # NODE IP
	make_cert "$1" "/O=system:nodes/CN=system:node:$1" "IP:127.0.0.1,IP:$2,DNS:$1"
	cert_kubeconfig "kubelet-$1" "$1"
}
