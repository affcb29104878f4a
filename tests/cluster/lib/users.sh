# shellcheck shell=bash
# Two ordinary users, alice and bob, and a group that alice is in; made if absent, and then removed by down.
LAB_GROUP=slurmk8s-lab

make_user() { # NAME UID
	local user=$1 uid=$2
	if ! id "$user" >/dev/null 2>&1; then
		! getent passwd "$uid" >/dev/null || uid=
		remember "user-$user" "$user"
		useradd ${uid:+--uid "$uid"} --user-group --no-create-home --home-dir "$CLUSTER/home/$user" --shell /bin/bash "$user"
	fi
	if [ -e "$CLUSTER/undo/user-$user" ]; then
		mkdir -p "$CLUSTER/home/$user"
		chown "$user:" "$CLUSTER/home/$user"
	fi
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

forget() { # RECORD COMMAND...: run COMMAND; the record goes only if that worked
	local record=$CLUSTER/undo/$1
	shift
	if [ ! -e "$record" ]; then return 0; fi
	if "$@"; then rm "$record"; fi
}

delete_user() { ! id "$1" >/dev/null 2>&1 || userdel "$1"; }
delete_group() { ! getent group "$1" >/dev/null || groupdel "$1"; }
leave_group() { ! id "$1" >/dev/null 2>&1 || gpasswd -d "$1" "$LAB_GROUP" >/dev/null; }

remove_users() { # those that we made
	forget member leave_group alice
	forget user-alice delete_user alice
	forget user-bob delete_user bob
	forget group delete_group "$LAB_GROUP"
}
