#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A volume of 100 GiB that is made for this job and goes with it; the site must allow that (claims in k8s.yaml).
# input.txt and sorted.txt are in the directory that sbatch was called in: it must lie on a volume of the site's that
# every job has, as home directories do. What is written elsewhere in the container goes with it.
#SBATCH --job-name=sort --cpus-per-task=4 --mem=8G --time=2:00:00
#SBATCH --k8s-image=debian:12
#SBATCH --k8s-pvc=100Gi:/scratch
sort --parallel=4 --temporary-directory=/scratch --output=sorted.txt input.txt
