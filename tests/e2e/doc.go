// SPDX-License-Identifier: Apache-2.0

// Package e2e proves slurm-k8s on the real one-machine cluster of tests/cluster: its
// scripts, testdata/*.txtar, read like a shell session of alice's.
//
//	make cluster-up
//	go test -tags e2e ./tests/e2e -parallel 6 -v        (or tests/e2e/run, which starts the cluster)
//	go test -tags e2e ./tests/e2e -run 'TestScripts/signal'
//
// Scripts in testdata run beside each other, in any order; those in testdata/serial
// kill daemons or fill the cluster and run alone. A script is a testscript
// (github.com/rogpeppe/go-internal): its built-in commands work, "exec" runs as root,
// the cluster's administrator, and these are added. They wait for three minutes at most, as a
// machine may be many times slower than a quiet one; -t 90s sets another limit, where a short one
// proves something or a long one is needed:
//
//	as USER COMMAND...                 run it as alice or bob, with their own environment; an sbatch
//	                                   (also behind "env NAME=VALUE") sets $JOB, and so does an srun or salloc
//	code NUMBER                        that was the exit code of the last "as"
//	begin NAME USER COMMAND...         the same beside the script, its output in NAME.out and NAME.err; an srun without
//	                                   --jobid sets $JOB
//	send SIGNAL NAME                   to a command that was begun, and only to it
//	ended [-t D] CODE|any NAME         wait until it has ended, with that exit code; with ! it runs now
//	job [-t D] STATE[|STATE...] [JOB]  wait for the job's state
//	field [-t D] NAME REGEXP [JOB]     wait until a field of scontrol show job matches; with ! it does not match now
//	acct [-t D] FIELD REGEXP [JOB]     the same with a field of sacct's
//	line [-t D] REGEXP FILE            wait until a line of the file matches
//	pod [-t D] gone|exists|running|pending|terminated [JOB]
//	fill RESOURCE [LEFT]               Pods of the administrator's take all of it that is free in the cluster, or all but LEFT
//	unfill                             they go
//	capture VARIABLE COMMAND...        run as root, its output (trimmed) becomes the variable
//	await [-t D] COMMAND...            repeat as root until it succeeds
//	say WORDS...                       into the log of the run
//	still [-t D] FILE                  wait until the file has not grown for 3 s
//	grows [-t D] FILE                  wait until it grows
//	tarpit VARIABLE                    a listener that never answers; its HOST:PORT
//	kubectl ARGS...                    as the administrator, in the namespace of the jobs
//	daemon stop|kill|start|restart NAME...   daemons of the cluster; what was stopped is started at the end
//	node up|down NAME                  a Kubernetes node comes, or is gone for good; it is up again at the end
//	only NODE|all|none                 this Kubernetes node alone takes new Pods, until the end of the script
//	site [FILE]                        k8s.yaml is the cluster's own with FILE's top keys, until the script ends
//	afterwards COMMAND...              run as root at the script's end, however it ends
//	unqueued [-t D]                    no job of this script is in the queue
//	nodes-fine                         no node drained or down, no job held, no Pod of this script's jobs left
//
// @REGISTRY@ in a script's files is the registry's HOST:PORT.
//
// At its end each script cancels what it submitted, and fails when a Pod, a held job
// or a drained node stays behind. A script that fails prints what a person would ask for.
package e2e
