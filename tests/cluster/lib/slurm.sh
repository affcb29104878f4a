# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Slurm's daemons, each in the foreground under a pid of our own record; one start function each.
. "$HERE/lib/slurm-config.sh"
export SLURM_CONF=$CLUSTER/etc/slurm.conf

start_munged() {
	local m=$CLUSTER/munge
	mkdir -p "$m"
	if [ ! -e "$m/key" ]; then
		head -c 1024 /dev/urandom >"$m/key.new"
		chmod 400 "$m/key.new"
		mv "$m/key.new" "$m/key"
	fi
	chown -R munge: "$m"
	rm -f "$m/socket.lock"
	spawn munged setpriv --reuid=munge --regid=munge --clear-groups munged --foreground --force --socket="$m/socket" \
		--key-file="$m/key" --pid-file="$m/pid" --log-file="$m/log" --seed-file="$m/seed"
	await munged 10 munge --socket="$m/socket" -n
}

maria() { mariadb --no-defaults --socket="$CLUSTER/mariadb/socket" "$@"; }

start_mariadb() {
	local m=$CLUSTER/mariadb
	need_port "$PORT_MARIADB" mariadb
	# A folder of its own for temporary tables: in /tmp one that starts removes another's.
	mkdir -p "$m/tmp"
	chown mysql: "$m" "$m/tmp"
	if [ ! -e "$m/installed" ]; then
		rm -rf "$m/data"
		mariadb-install-db --no-defaults --user=mysql --datadir="$m/data" --tmpdir="$m/tmp" --auth-root-authentication-method=socket \
			--skip-test-db --skip-name-resolve --innodb-flush-method=nosync >"$CLUSTER/log/mariadb-install.log" 2>&1 ||
			die "mariadb-install-db failed" "$CLUSTER/log/mariadb-install.log"
		: >"$m/installed"
	fi
	# nosync: the cluster is thrown away, the machine's crash included.
	spawn mariadb mariadbd --no-defaults --user=mysql --datadir="$m/data" --tmpdir="$m/tmp" --socket="$m/socket" --pid-file="$m/pid" \
		--bind-address=127.0.0.1 --port="$PORT_MARIADB" --innodb-buffer-pool-size=64M --innodb-log-file-size=16M \
		--innodb-lock-wait-timeout=900 --innodb-flush-method=nosync --innodb-flush-log-at-trx-commit=0
	await mariadb 30 maria -e 'select 1'
	maria -e "create database if not exists slurm_acct;
		create user if not exists slurm@'127.0.0.1' identified by 'slurm'; grant all on slurm_acct.* to slurm@'127.0.0.1';
		create user if not exists slurm@localhost identified by 'slurm'; grant all on slurm_acct.* to slurm@localhost;"
}

start_slurmdbd() {
	need_port "$PORT_SLURMDBD" slurmdbd
	spawn slurmdbd slurmdbd -D
	await slurmdbd 30 sacctmgr -n show cluster
}

start_slurmctld() {
	need_port "$PORT_SLURMCTLD" slurmctld
	spawn slurmctld slurmctld -D
	await slurmctld 30 slurmctld_up
}

slurmctld_up() { scontrol ping | grep -q UP; }

start_slurmd() { # NODE
	local n=$1
	need_port $((PORT_SLURMD + ${n#n})) "slurmd-$n"
	spawn "slurmd-$n" "${SLURMD[@]}" -D -N "$n"
	await "slurmd-$n" 30 listening $((PORT_SLURMD + ${n#n}))
}

nodes_ready() { # NODE...: all of them free to take jobs
	[ "$(sinfo -h -N -p main -n "$(IFS=,; echo "$*")" -o %T | grep -cE '^(idle|mixed|allocated|completing)$')" = $# ]
}

make_cluster_record() { # slurmctld registers under this name
	[ -n "$(sacctmgr -nP show cluster "$SLURM_CLUSTER" format=cluster)" ] || sacctmgr -i add cluster "$SLURM_CLUSTER" >/dev/null
}

make_accounts() {
	[ -n "$(sacctmgr -nP show account lab format=account)" ] ||
		sacctmgr -i add account lab Cluster="$SLURM_CLUSTER" Description=lab Organization=lab >/dev/null
	[ "$(sacctmgr -nP show user alice,bob format=user | wc -l)" = 2 ] ||
		sacctmgr -i add user alice,bob DefaultAccount=lab Cluster="$SLURM_CLUSTER" >/dev/null
}

step_pids() { # CGROUP: processes of our steps; another Slurm with nodes of the same names shares the cgroup
	local p conf job
	for p in $(cgroup_pids "$1"); do
		conf=$({ tr '\0' '\n' <"/proc/$p/environ"; } 2>/dev/null | grep '^SLURM_CONF=' || true)
		case $conf in
		"SLURM_CONF=$SLURM_CONF") echo "$p" ;;
		'') # a task whose environment has it not; our jobs' numbers are ours alone, where the cgroup is
			job=$(grep -om1 "/$1/.*job_[0-9]*" "/proc/$p/cgroup" 2>/dev/null | sed 's/.*job_//' || true)
			if [ -n "$job" ] && [ $((job / 1000000)) = "${INSTANCE:-0}" ] && [ -e "$SHARED/undo/cgroup-$1" ]; then echo "$p"; fi
			;;
		esac
	done
}

claim_slurm_cgroups() { # those that are not there before our slurmds
	local n
	for n in slurm_n1 slurm_n2; do
		[ -n "$(cgroup_folders $n)" ] || remember "cgroup-$n" "$n"
	done
}

remove_slurm_cgroups() { # those that our slurmds made
	local n
	for n in slurm_n1 slurm_n2; do forget "cgroup-$n" cgroup_remove "$n" step_pids; done
}
