# shellcheck shell=bash
# Images as OCI layouts, made with tar, gzip and jq: reproducible, because nothing in them depends on the time.

put_blob() { # LAYOUT FILE: moves FILE into the layout, prints {digest, size}
	local sum
	sum=$(sha256sum <"$2" | cut -d' ' -f1)
	jq -n --arg d "sha256:$sum" --argjson s "$(stat -c %s "$2")" '{digest: $d, size: $s}'
	mv "$2" "$1/blobs/sha256/$sum"
}

blob() { echo "$1/blobs/sha256/${2#sha256:}"; } # LAYOUT DIGEST

oci_image() { # LAYOUT BASE ROOT [CONFIG]: a layer from folder ROOT on the layout BASE ('' for none); CONFIG: jq object
	local layout=$1 base=$2 root=$3 config=${4:-'{}'} diff layer m c
	mkdir -p "$layout/blobs/sha256"
	tar --sort=name --mtime=@0 --numeric-owner --format=posix --pax-option=delete=atime,delete=ctime \
		-C "$root" -cf "$layout/layer.tar" .
	diff=sha256:$(sha256sum <"$layout/layer.tar" | cut -d' ' -f1)
	gzip -n1 <"$layout/layer.tar" >"$layout/layer.gz"
	rm "$layout/layer.tar"
	layer=$(put_blob "$layout" "$layout/layer.gz" | jq '.mediaType = "application/vnd.oci.image.layer.v1.tar+gzip"')

	m='{"layers": []}' c='{"rootfs": {"type": "layers", "diff_ids": []}, "config": {}}'
	if [ -n "$base" ]; then
		cp -n "$base"/blobs/sha256/* "$layout/blobs/sha256/"
		m=$(cat "$(blob "$base" "$(jq -r '.manifests[0].digest' "$base/index.json")")")
		c=$(cat "$(blob "$base" "$(jq -r .config.digest <<<"$m")")")
	fi
	jq --arg diff "$diff" --argjson config "$config" --arg arch "$(dpkg --print-architecture)" '
		.architecture = $arch | .os = "linux" | .rootfs.diff_ids += [$diff] |
		.config += {Env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]} + $config
		' <<<"$c" >"$layout/config.json"
	c=$(put_blob "$layout" "$layout/config.json" | jq '.mediaType = "application/vnd.oci.image.config.v1+json"')
	jq --argjson layer "$layer" --argjson c "$c" '{schemaVersion: 2,
		mediaType: "application/vnd.oci.image.manifest.v1+json", config: $c, layers: (.layers + [$layer])}
		' <<<"$m" >"$layout/manifest.json"
	put_blob "$layout" "$layout/manifest.json" | jq '{schemaVersion: 2, manifests: [. + {
		mediaType: "application/vnd.oci.image.manifest.v1+json"}]}' >"$layout/index.json"
	printf '{"imageLayoutVersion": "1.0.0"}' >"$layout/oci-layout"
}
