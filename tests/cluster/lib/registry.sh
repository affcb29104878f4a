# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Debian's docker-registry on loopback: one that is open, and one that answers 401 to whoever has no password.
DENIED_USER=puller DENIED_PASSWORD=letmein

registry_config() { # NAME PORT [EXTRA-YAML]
	mkdir -p "$CLUSTER/registry/$1"
	put "$CLUSTER/etc/$1.yaml" 644 <<-Y
		version: 0.1
		log: {level: warn, accesslog: {disabled: true}}
		storage: {filesystem: {rootdirectory: "$CLUSTER/registry/$1"}, delete: {enabled: true}}
		http: {addr: "127.0.0.1:$2"}
		${3:-}
	Y
}

registry_up() { [ "$(curl -s --noproxy '*' -o /dev/null -w '%{http_code}' "http://$1/v2/")" = "$2" ]; }

start_registry() {
	need_port "$PORT_REGISTRY" registry
	registry_config registry "$PORT_REGISTRY"
	spawn registry docker-registry serve "$CLUSTER/etc/registry.yaml"
	await registry 10 registry_up "$REGISTRY" 200
}

start_registry_denied() {
	need_port "$PORT_REGISTRY_DENIED" registry-denied
	# shellcheck disable=SC2016
	[ -e "$CLUSTER/etc/htpasswd" ] || perl -e 'print "$ARGV[0]:", crypt($ARGV[1], q($2y$05$slurmk8slabslurmk8slab)), "\n"' \
		"$DENIED_USER" "$DENIED_PASSWORD" >"$CLUSTER/etc/htpasswd"
	registry_config registry-denied "$PORT_REGISTRY_DENIED" "auth: {htpasswd: {realm: lab, path: \"$CLUSTER/etc/htpasswd\"}}"
	spawn registry-denied docker-registry serve "$CLUSTER/etc/registry-denied.yaml"
	await registry-denied 10 registry_up "$REGISTRY_DENIED" 401
}

tag_of() { if [ "$1" = debian ]; then echo debian:12; else echo "$1:1"; fi; }

push() { # LAYOUT REGISTRY/NAME:TAG [SKOPEO-OPTION...]
	local from=oci:$1 to=docker://$2
	shift 2
	env -u http_proxy -u https_proxy skopeo --insecure-policy copy -q --dest-tls-verify=false "$@" "$from" "$to" \
		>>"$CLUSTER/log/push.log" 2>&1 || die "pushing ${to#docker://} failed" "$CLUSTER/log/push.log"
}

push_images() { # what etc/images names and the registry does not have yet
	local name layout
	while read -r name layout; do
		if [ "$name" != pause ] && [ ! -e "$CLUSTER/registry/pushed-${layout##*/}" ]; then
			push "$layout" "$REGISTRY/$(tag_of "$name")"
			if [ "$name" = tiny ]; then
				push "$layout" "$REGISTRY_DENIED/$(tag_of tiny)" --dest-creds "$DENIED_USER:$DENIED_PASSWORD"
			fi
			: >"$CLUSTER/registry/pushed-${layout##*/}"
		fi
	done <"$CLUSTER/etc/images"
}
