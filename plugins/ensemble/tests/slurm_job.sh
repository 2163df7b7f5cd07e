#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs an emitted job on a Slurm of one node; its weights are those of a run without: slurm_job.sh OMEN.
set -euo pipefail
omen=$1
# shellcheck source=tests/integration/slurm/one_node.sh
. "$(dirname "$0")/../../../tests/integration/slurm/one_node.sh"
# Two ranks of three cores each.
start_slurm 8 srun shellcheck
srun --mpi=list 2>&1 | grep -q pmix || skip "this Slurm has no PMIx"

mkdir "$work/place with space"
cd "$work/place with space"
export PATH="$(dirname "$omen"):$PATH" XDG_CACHE_HOME="$work/cache"
"$omen" ensemble make-data images.epd --images 40 --width 48 --height 40 -q
options=(--models 'tiny,resnet8' --data images.epd --batch 8 --size 16 --epochs 2 --design all-shared --seed 5)
"$omen" ensemble run "${options[@]}" -q -o alone
"$omen" ensemble run "${options[@]}" --emit slurm >job.sh
shellcheck job.sh
sbatch job.sh
await_jobs

failed=0
for model in tiny resnet8; do
  cmp "alone/weights/$model.safetensors" "ensemble-run/weights/$model.safetensors" || failed=1
done
grep -q '"ranks": 2' ensemble-run/run.json || failed=1
[ $failed -eq 0 ] || cat omen-ensemble-*.log "$work"/slurm*.log
exit $failed
