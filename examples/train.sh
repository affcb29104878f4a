#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two GPUs, and the site's volume "datasets", which its k8s.yaml must name, at another path and read-only. train.py and
# results are in the directory that sbatch was called in, which must lie on a volume of the site's that every job has.
#SBATCH --job-name=train --cpus-per-task=8 --mem=32G --gres=gpu:2 --time=1-00:00:00
#SBATCH --k8s-image=pytorch/pytorch:latest
#SBATCH --k8s-mount=datasets:/data:ro
python3 train.py --data=/data --out=results
