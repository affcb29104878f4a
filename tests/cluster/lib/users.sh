# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Two ordinary users, alice and bob, and a group that alice is in; made if absent, and then removed by the last cluster
# that goes down. Needs shared.sh; its lock is held.
LAB_GROUP=slurmk8s-lab

make_user() { # NAME UID
	local user=$1 uid=$2
	if ! id "$user" >/dev/null 2>&1; then
		! getent passwd "$uid" >/dev/null || uid=
		remember "user-$user" "$CLUSTER/home/$user"
		useradd ${uid:+--uid "$uid"} --user-group --no-create-home --home-dir "$CLUSTER/home/$user" --shell /bin/bash "$user"
	fi
	mkdir -p "$CLUSTER/home/$user"
	chown "$user:" "$CLUSTER/home/$user"
}

make_users() {
	make_user alice 4201
	make_user bob 4202
	if ! getent group "$LAB_GROUP" >/dev/null; then
		remember group "$LAB_GROUP"
		groupadd "$(getent group 4210 >/dev/null || echo --gid=4210)" "$LAB_GROUP"
	fi
	if ! id -nG alice | tr ' ' '\n' | grep -qx "$LAB_GROUP"; then
		remember member alice
		usermod -aG "$LAB_GROUP" alice
	fi
}

delete_user() { # NAME: and the home that an earlier cluster has left for the others
	local home
	home=$(cat "$SHARED/undo/user-$1")
	! id "$1" >/dev/null 2>&1 || userdel "$1" || return
	[ ! -d "$home" ] || rm -rf --one-file-system "$home"
	rmdir "${home%/*}" 2>/dev/null || true
}
delete_group() { ! getent group "$1" >/dev/null || groupdel "$1"; }
leave_group() { ! id "$1" >/dev/null 2>&1 || gpasswd -d "$1" "$LAB_GROUP" >/dev/null; }

remove_users() { # those that we made
	forget member leave_group alice
	forget user-alice delete_user alice
	forget user-bob delete_user bob
	forget group delete_group "$LAB_GROUP"
}

homes_in_use() { # users that stay have their homes in this cluster's folder
	local user
	for user in alice bob; do
		case $(getent passwd "$user" | cut -d: -f6) in "$CLUSTER"/*) return 0 ;; esac
	done
	return 1
}
