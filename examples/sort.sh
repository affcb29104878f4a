#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A volume of 100 GiB that is made for this job and goes with it; the site must allow that (claims in k8s.yaml).
#SBATCH --job-name=sort --cpus-per-task=4 --mem=8G --time=2:00:00
#SBATCH --k8s-image=debian:12
#SBATCH --k8s-pvc=100Gi:/scratch
sort --parallel=4 --temporary-directory=/scratch --output=sorted.txt input.txt
