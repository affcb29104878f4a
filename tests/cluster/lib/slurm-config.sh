# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Writes Slurm's configuration into etc/.
SLURM_CLUSTER=lab

slurm_address() { # the loopback address this host's name resolves to, if it does: NoInAddrAny binds to that
	getent ahostsv4 "$(hostname -s)" | awk '$1 ~ /^127\./ { print $1; exit }'
}

write_slurm_config() {
	local e=$CLUSTER/etc host address params='' auth cgroup
	host=$(hostname -s)
	address=$(slurm_address)
	[ -z "$address" ] || params=CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
	address=${address:-127.0.0.1}
	# Requeued jobs wait for the credential's lifetime (120 s by default); the plugin sets begin_time itself.
	auth=socket=$CLUSTER/munge/socket${SLURM_K8S_CRED_EXPIRE:+,cred_expire=$SLURM_K8S_CRED_EXPIRE}
	cgroup=cgroup/v1
	[ "$(stat -fc %T /sys/fs/cgroup)" != cgroup2fs ] || cgroup=cgroup/v2
	mkdir -p "$CLUSTER"/slurm/{state,dev,spool-n1,spool-n2,run}
	chown slurm: "$CLUSTER"/slurm/{state,run}

	put "$e/slurmdbd.conf" 600 slurm <<-C
		AuthType=auth/munge
		AuthInfo=socket=$CLUSTER/munge/socket
		DbdHost=$host
		DbdAddr=$address
		DbdPort=$PORT_SLURMDBD
		SlurmUser=slurm
		DebugLevel=info
		PidFile=$CLUSTER/slurm/run/slurmdbd.pid
		StorageType=accounting_storage/mysql
		StorageHost=127.0.0.1
		StoragePort=$PORT_MARIADB
		StorageUser=slurm
		StoragePass=slurm
		StorageLoc=slurm_acct
	C
	put "$e/slurm.conf" 644 <<-C
		ClusterName=$SLURM_CLUSTER
		SlurmctldHost=$host($address)
		SlurmctldPort=$PORT_SLURMCTLD
		SlurmUser=slurm
		$params
		FirstJobId=$((1000000 * ${INSTANCE:-0} + 1))
		AuthType=auth/munge
		CredType=cred/munge
		AuthInfo=$auth
		MailProg=/bin/true
		PlugStackConfig=$e/plugstack.conf

		StateSaveLocation=$CLUSTER/slurm/state
		SlurmdSpoolDir=$CLUSTER/slurm/spool-%n
		SlurmctldPidFile=$CLUSTER/slurm/run/slurmctld.pid
		SlurmdPidFile=$CLUSTER/slurm/run/slurmd-%n.pid
		SlurmctldDebug=debug
		SlurmdDebug=debug
		# With slurmd's own lines come those of every slurmstepd, which go nowhere else.
		SlurmdLogFile=$CLUSTER/log/slurmstepd-%n.log

		# Nodes pretend to be larger than the machine, and two of them share it.
		SlurmdParameters=config_overrides
		ProctrackType=proctrack/cgroup
		TaskPlugin=task/cgroup,task/affinity
		# None of the binding that task/affinity would do by default: it cannot lay out tasks on cpus that are not there.
		TaskPluginParam=none
		JobAcctGatherType=jobacct_gather/cgroup
		JobAcctGatherFrequency=5

		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core_Memory
		DefMemPerCPU=500
		SchedulerType=sched/backfill
		SchedulerParameters=sched_min_interval=0,sched_interval=5,batch_sched_delay=0,bf_interval=2,bf_continue
		PriorityType=priority/multifactor
		PriorityWeightAge=1000
		PriorityWeightJobSize=1000
		PriorityWeightPartition=10000
		PriorityWeightQOS=10000
		PreemptType=preempt/partition_prio
		PreemptMode=REQUEUE

		JobRequeue=1
		KillWait=5
		UnkillableStepTimeout=60
		ReturnToService=2

		AccountingStorageType=accounting_storage/slurmdbd
		AccountingStorageHost=$address
		AccountingStoragePort=$PORT_SLURMDBD
		AccountingStoragePass=$CLUSTER/munge/socket
		AccountingStorageEnforce=associations,limits,qos
		AccountingStorageTRES=gres/gpu
		AccountingStoreFlags=job_comment

		GresTypes=gpu
		NodeName=n1 NodeHostname=$host NodeAddr=$address Port=$((PORT_SLURMD + 1)) CPUs=${SLURM_K8S_SLURM_CPUS:-8} RealMemory=8000 Gres=gpu:2 State=UNKNOWN
		NodeName=n2 NodeHostname=$host NodeAddr=$address Port=$((PORT_SLURMD + 2)) CPUs=${SLURM_K8S_SLURM_CPUS:-8} RealMemory=8000 Gres=gpu:2 State=UNKNOWN
		PartitionName=DEFAULT Nodes=n1,n2 DefaultTime=10 MaxTime=INFINITE State=UP
		PartitionName=main Default=YES PriorityTier=1
		PartitionName=high PriorityTier=10
	C
	# n1 only counts its GPUs (22.05 forgets those without a File, so it is given files and told to ignore them); n2 knows
	# the files as devices, so that Slurm sets the device variables there.
	put "$e/gres.conf" 644 <<-C
		NodeName=n1 Name=gpu File=$CLUSTER/slurm/dev/gpu[0-1] Flags=CountOnly
		NodeName=n2 Name=gpu File=$CLUSTER/slurm/dev/gpu[0-1]
	C
	for i in 0 1; do
		[ -e "$CLUSTER/slurm/dev/gpu$i" ] || mknod -m 666 "$CLUSTER/slurm/dev/gpu$i" c 1 3
	done
	put "$e/cgroup.conf" 644 <<-C
		CgroupPlugin=$cgroup
		CgroupMountpoint=/sys/fs/cgroup
		$([ $cgroup = cgroup/v1 ] && echo CgroupAutomount=no || echo IgnoreSystemd=yes)
		# No ConstrainCores: with cgroup v1, two batch jobs of one user that start in the same moment write the cpus of the
		# user's cpuset over each other, and the loser's node is drained ("batch job complete failure"), Pods or not.
		ConstrainCores=no
		ConstrainRAMSpace=yes
	C
	[ -e "$e/plugstack.conf" ] || : >"$e/plugstack.conf"
}
