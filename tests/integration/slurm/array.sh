#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs an emitted job array on a Slurm of one node, which lives as long as this test: array.sh OMEN.
set -euo pipefail
omen=$1

. "$(dirname "$0")/one_node.sh"
start_slurm "$(nproc)" shellcheck

mkdir "$work/place with space"
cd "$work/place with space"
export XDG_CACHE_HOME="$work/cache"
awk 'BEGIN {
  print "g,x,cost"
  for (i = 0; i < 80; i++) printf "g%d,%d,%.3f\n", i % 8, (i * 37) % 101, 5 + (i * 37) % 101 + i * 7919 % 23
}' >rows.csv
"$omen" -q data import rows.csv --target cost:ms:lower --group g -o rows
"$omen" -q task new -o task.json --data rows --folds 2
"$omen" compare baseline.ridge baseline.knn --task task.json --csv --runs-dir one >one.csv

"$omen" compare baseline.ridge baseline.knn --task task.json --csv --emit slurm --shares 3 -o array.sh
shellcheck array.sh
sh array.sh --job-name=tested
run=$(echo runs/slurm-*)
await_jobs
tail -n +1 "$run"/share-*.txt

failed=0
cmp one.csv "$run/report.txt" || failed=1
cmp one/*/losses.csv "$run/losses.csv" || failed=1
# Every job was done by a share: the report found all of them.
[ "$(grep -c 'kept from an earlier run' "$run/log.txt")" -eq "$(find "$run/jobs" -name '*.omt' | wc -l)" ] ||
  { echo "FAILED: the report did jobs itself"; cat "$run/log.txt"; failed=1; }
[ "$(find "$run/jobs" -name '*.omt' | wc -l)" -ge 8 ] || { echo "FAILED: too few jobs"; failed=1; }
[ ! -e "$run/unfinished" ] || { echo "FAILED: the run is not finished"; failed=1; }
exit $failed
