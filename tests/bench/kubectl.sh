#!/bin/bash
#SBATCH --job-name=by-kubectl
# The way of a prolog and an epilog: make the Pod, look until it has ended, take its log, remove it.
set -euo pipefail
name=by-kubectl-$SLURM_JOB_ID
kubectl apply -f - >/dev/null <<Y
apiVersion: v1
kind: Pod
metadata: {name: $name, namespace: default}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  containers:
    - {name: job, image: $IMAGE, command: [sh, -c, sleep 2], resources: {limits: {cpu: 1, memory: 100Mi}}}
Y
until phase=$(kubectl -n default get pod "$name" -o json | jq -r .status.phase) && [[ $phase = Succeeded || $phase = Failed ]]; do
	sleep 0.5
done
kubectl -n default logs "$name"
kubectl -n default delete pod "$name" --wait=false >/dev/null
[ "$phase" = Succeeded ]
