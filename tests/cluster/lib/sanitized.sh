# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034 # used by those that source it
# For `make sanitize`: SLURM_K8S_SANITIZED is the folder of a build with ASan and UBSan. Slurm's programs that load the
# plugin are copies in bin/ that have the sanitizers' runtime; for slurmd, and all that it starts, they stand in the place
# of the real ones. Every container has a mount /.sanitizer with what podinit needs: loader and libraries, so that it runs
# in any image, and the folder of reports.
SANITIZED=${SLURM_K8S_SANITIZED:-}
SLURMD=(slurmd)
SANITIZED_PROGRAMS=(sbatch srun salloc slurmd slurmstepd)

real_program() { readlink -f "$(PATH=/usr/sbin:/usr/bin command -v "$1")"; }

if [ -n "$SANITIZED" ]; then
	# Slave: what is mounted later is seen there too.
	# shellcheck disable=SC2016
	SLURMD=(unshare --mount --propagation slave sh -ec 'while [ "$1" != -- ]; do mount --bind "$1" "$2"; shift 2; done; shift; exec slurmd "$@"' sh)
	for program in "${SANITIZED_PROGRAMS[@]}"; do SLURMD+=("$CLUSTER/bin/$program" "$(real_program "$program")"); done
	SLURMD+=(--)
fi

prepare_sanitizers() {
	local program
	[ -n "$SANITIZED" ] || return 0
	mkdir -p "$CLUSTER/sanitizer" "$CLUSTER/log/reports"
	chmod 1777 "$CLUSTER/log/reports"
	# shellcheck disable=SC2046
	cp -L $(ldd "$SANITIZED/relay" | grep -o '/[^ ]*') "$CLUSTER/sanitizer/"
	cp "$SANITIZED/options.so" "$CLUSTER/lib/"
	for program in "${SANITIZED_PROGRAMS[@]}"; do
		[ -e "$CLUSTER/bin/$program" ] || patchelf --add-needed "$CLUSTER/lib/options.so" --add-needed libasan.so.8 \
			--output "$CLUSTER/bin/$program" "$(real_program "$program")"
	done
}

# containerd's own specification of a container, and the mounts; CRI puts a Pod's over it.
write_container_base() {
	"$KUBE/ctr" oci spec | jq --arg cluster "${first:-$CLUSTER}" '.mounts += [
		{destination: "/.sanitizer/lib", type: "bind", source: "\($cluster)/sanitizer", options: ["rbind", "ro"]},
		{destination: "/.sanitizer/reports", type: "bind", source: "\($cluster)/log/reports", options: ["rbind", "rw"]}]' |
		put "$CLUSTER/etc/container-base.json" 644
}
