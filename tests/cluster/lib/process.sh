# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Daemons: NAME has its pid in run/NAME.pid, its start time in run/NAME.start (so that a reused pid is never
# taken for it) and its output in log/NAME.log. All carry a mark in their environment that their children inherit.
MARK=SLURM_K8S_DAEMON_OF

start_time() { # PID: its start in clock ticks, or nothing if it is gone or a zombie
	local stat
	{ read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 0
	stat=${stat##*) }
	# shellcheck disable=SC2086
	set -- $stat
	[ "$1" = Z ] || echo "${20}"
}

pid_of() { cat "$CLUSTER/run/$1.pid" 2>/dev/null || true; }

alive() { # NAME
	local pid
	pid=$(pid_of "$1")
	[ -n "$pid" ] && [ -e "$CLUSTER/run/$1.start" ] && [ "$(start_time "$pid")" = "$(cat "$CLUSTER/run/$1.start")" ]
}

spawn() { # NAME COMMAND...: start it detached, with a clean environment
	local name=$1 pid
	shift
	printf -- '---- %s starts %s\n' "$(date '+%F %T')" "$name" >>"$CLUSTER/log/$name.log"
	# From / : a daemon must not hold, nor later miss, the folder of whoever started it.
	env -i --chdir=/ PATH="$CLUSTER/kube:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" HOME=/root \
		LC_ALL=C.UTF-8 SLURM_CONF="$CLUSTER/etc/slurm.conf" "$MARK=$CLUSTER" \
		setsid "$@" >>"$CLUSTER/log/$name.log" 2>&1 </dev/null 9<&- &
	pid=$!
	start_time "$pid" >"$CLUSTER/run/$name.start"
	echo "$pid" >"$CLUSTER/run/$name.pid"
}

await() { # NAME SECONDS COMMAND...: until COMMAND succeeds; fails when the daemon ends or time is up
	local name=$1 end=$(($(now) + $2 * 1000000)) seconds=$2
	shift 2
	until "$@" >/dev/null 2>&1; do
		alive "$name" || die "$name ended instead of getting ready" "$CLUSTER/log/$name.log"
		[ "$(now)" -lt "$end" ] || die "$name is not ready after $seconds s" "$CLUSTER/log/$name.log"
		sleep 0.05
	done
}

need_port() { # PORT NAME
	local owner
	owner=$(ss -Hltnp "sport = :$1" | grep -o 'users:.*' || true)
	[ -z "$(ss -Hltn "sport = :$1")" ] ||
		die "port $1 for $2 is taken by ${owner:-another process}; choose others with SLURM_K8S_PORT_BASE"
}

listening() { [ -n "$(ss -Hltn "sport = :$1")" ]; }

end() { # NAME [SECONDS]: TERM, after SECONDS (0: at once) KILL
	local name=$1 seconds=${2:-10} pid until
	if alive "$name"; then
		pid=$(pid_of "$name")
		[ "$seconds" = 0 ] || kill -TERM "$pid" 2>/dev/null || true
		until=$(($(now) + seconds * 1000000))
		while alive "$name"; do
			if [ "$(now)" -ge "$until" ]; then
				kill -KILL "$pid" 2>/dev/null || true
			fi
			[ "$(now)" -lt $((until + 10000000)) ] || die "$name (pid $pid) does not even end by KILL"
			sleep 0.02
		done
	fi
	rm -f "$CLUSTER/run/$name.pid" "$CLUSTER/run/$name.start"
}

marked() { # pids of all processes that descend from the cluster's daemons
	local f
	grep -lsxzF "$MARK=$CLUSTER" /proc/[0-9]*/environ 2>/dev/null | while IFS=/ read -r _ _ f _; do
		[ -z "$(start_time "$f")" ] || echo "$f"
	done || true
}

kill_all() { # LISTER ARGS...: KILL every pid that LISTER prints, until it prints none
	local pids i
	for i in $(seq 100); do
		pids=$("$@")
		[ -n "$pids" ] || return 0
		# shellcheck disable=SC2086
		kill -KILL $pids 2>/dev/null || true
		[ "$i" -lt 3 ] || sleep 0.05
	done
	die "these processes do not end: $(echo "$pids" | tr '\n' ' ')"
}

cgroup_folders() { # NAME: the folder of cgroup NAME in every hierarchy
	local d
	for d in /sys/fs/cgroup/"$1" /sys/fs/cgroup/*/"$1"; do
		[ ! -d "$d" ] || echo "$d"
	done
}

cgroup_pids() { # NAME: every process in cgroup NAME or below
	local d
	cgroup_folders "$1" | while read -r d; do
		find "$d" -name cgroup.procs -exec cat {} + 2>/dev/null || true
	done | sort -un
}

cgroup_remove() { # NAME [LISTER]: with the processes in it that LISTER (cgroup_pids) prints
	local d _
	kill_all "${2:-cgroup_pids}" "$1"
	for _ in $(seq 40); do
		cgroup_folders "$1" | while read -r d; do
			find "$d" -depth -type d -exec rmdir {} + 2>/dev/null || true
		done
		[ -n "$(cgroup_folders "$1")" ] || return 0
		sleep 0.05
	done
	[ -z "$(cgroup_pids "$1")" ] || { say "cgroup $1 is in use by others and stays"; return; }
	die "cgroup $1 cannot be removed: $(cgroup_folders "$1" | tr '\n' ' ')"
}
