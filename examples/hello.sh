#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A small job in any image that has bash.
#SBATCH --job-name=hello --cpus-per-task=2 --mem=200 --time=5
#SBATCH --k8s-image=debian:12
echo "hello from $(hostname), as uid $(id -u), in $PWD"
echo "Slurm gave me $SLURM_CPUS_PER_TASK cpus on $SLURMD_NODENAME"
