# shellcheck shell=bash disable=SC2034 # used by those that source it
# For `make sanitize`: SLURM_K8S_SANITIZED is the folder of a build with ASan and UBSan. Slurm's programs that load the
# plugin get the sanitizers' runtime, as copies in bin/, and every container a mount /.sanitizer with what podinit needs:
# loader and libraries, so that it runs in any image, and the folder of reports.
SANITIZED=${SLURM_K8S_SANITIZED:-}
SLURMD=(slurmd)
[ -z "$SANITIZED" ] || SLURMD=("$CLUSTER/bin/slurmd" -d "$CLUSTER/bin/slurmstepd")

prepare_sanitizers() {
	local program
	[ -n "$SANITIZED" ] || return 0
	mkdir -p "$CLUSTER/sanitizer" "$CLUSTER/log/reports"
	chmod 1777 "$CLUSTER/log/reports"
	# shellcheck disable=SC2046
	cp -L $(ldd "$SANITIZED/relay" | grep -o '/[^ ]*') "$CLUSTER/sanitizer/"
	cp "$SANITIZED/options.so" "$CLUSTER/lib/"
	for program in sbatch srun salloc slurmd slurmstepd; do
		[ -e "$CLUSTER/bin/$program" ] || patchelf --add-needed "$CLUSTER/lib/options.so" --add-needed libasan.so.8 \
			--output "$CLUSTER/bin/$program" "$(readlink -f "$(command -v "$program")")"
	done
}

# Slurm's commands inside Pods are those copies too.
sanitized_site() {
	cat
	[ -z "$SANITIZED" ] || echo "commands: {path: [\"$CLUSTER/bin\", /usr/bin]}"
}

# containerd's own specification of a container, and the mounts; CRI puts a Pod's over it.
write_container_base() {
	"$KUBE/ctr" oci spec | jq --arg cluster "${first:-$CLUSTER}" '.mounts += [
		{destination: "/.sanitizer/lib", type: "bind", source: "\($cluster)/sanitizer", options: ["rbind", "ro"]},
		{destination: "/.sanitizer/reports", type: "bind", source: "\($cluster)/log/reports", options: ["rbind", "rw"]}]' |
		put "$CLUSTER/etc/container-base.json" 644
}
