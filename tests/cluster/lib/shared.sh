# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What all clusters of this machine share: users, forwarding, folders that containerd insists on, Slurm's cgroups. Who
# needs one first makes it and notes that here; the cluster that goes down last takes back what is noted.
SHARED=/var/lib/slurm-k8s-clusters

shared() { # COMMAND...: run COMMAND while no other cluster makes or takes back what is shared
	(
		# The parent is locked, since the folder itself comes and goes.
		flock -w 120 7 || die "could not lock ${SHARED%/*} in 120 s"
		mkdir -p "$SHARED"/{clusters,undo}
		"$@"
	) 7<"${SHARED%/*}"
}

remember() { # NAME VALUE: what the last one must undo; the first value stays
	[ -e "$SHARED/undo/$1" ] || printf '%s\n' "$2" >"$SHARED/undo/$1"
}

forget() { # NAME COMMAND...: run COMMAND if NAME is noted; the note goes only if that worked
	local note=$SHARED/undo/$1
	shift
	if [ ! -e "$note" ]; then return 0; fi
	if "$@"; then rm "$note"; fi
}

join_shared() { printf '%s\n' "$CLUSTER" >"$SHARED/clusters/${CLUSTER//\//%}"; }

other_clusters() { # those that use what is shared, but this one; one whose folder is gone does not
	local f folder
	for f in "$SHARED"/clusters/*; do
		[ -e "$f" ] || continue
		folder=$(cat "$f")
		if [ ! -e "$folder/.slurm-k8s-cluster" ]; then rm "$f"; elif [ "$folder" != "$CLUSTER" ]; then echo "$folder"; fi
	done
}

leave_shared() { # TAKE-BACK: which is run if this is the last
	local others
	rm -f "$SHARED/clusters/${CLUSTER//\//%}"
	others=$(other_clusters)
	if [ -n "$others" ]; then
		say "users, groups and forwarding stay for" "$(tr '\n' ' ' <<<"$others")"
		return
	fi
	"$1"
	rmdir "$SHARED"/{clusters,undo} "$SHARED" 2>/dev/null || true # what could not be undone stays noted
}

enable_forwarding() { # between the Kubernetes nodes' bridges
	remember ip_forward "$(cat /proc/sys/net/ipv4/ip_forward)"
	echo 1 >/proc/sys/net/ipv4/ip_forward
}

restore_forwarding() { cat "$SHARED/undo/ip_forward" >/proc/sys/net/ipv4/ip_forward; }

make_folder() { # FOLDER: outside of ours
	[ -d "$1" ] || { remember "dir${1//\//-}" "$1"; mkdir -p "$1"; }
}

remove_folders() { # that we made; even an empty one that is mounted on in another namespace would go
	local f
	for f in "$SHARED"/undo/dir-*; do
		[ -e "$f" ] || continue
		rmdir "$(cat "$f")" 2>/dev/null || say "$(cat "$f") is in use by others and stays"
		rm "$f"
	done
}
