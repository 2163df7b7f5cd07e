#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What forty measurements of a machine that was left out are worth: compares on the task
# devmap-gpu-observe, and on its twin of the same test rows that gives no row to observe.
#   cost_observe_task.sh OMEN TASKS
# With OMEN_SHOW_BREAK=1 nothing is observed on either side.
set -eu
omen=$1
task=$2/devmap-gpu-observe
if [ -z "${OMEN_DATA:-}" ] || [ ! -d "$OMEN_DATA/loadbalance" ]; then
  echo "skipped: OMEN_DATA is not set: the track's public data is absent"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The inputs and targets of a task as flags of `omen task new`.
flags() {
  awk -F'"' '/"inputs"/ { inputs = 1; next } /\]/ { inputs = 0 }
    inputs && NF == 3 { printf "--input %s ", $2 }
    $2 == "name" && targets { name = $4 } /"targets"/ { targets = 1 } /"group"/ { targets = 0 }
    targets && $2 == "unit" { unit = $4 } targets && $2 == "direction" { direction = $4 }
    targets && $2 == "loss" { printf "--target %s:%s:%s=%s ", name, unit, direction, $4 }' "$1"
}
grep -v ',observe$' "$task.split.csv" > "$work/unobserved.csv"
# shellcheck disable=SC2046  # flags are words
"$omen" task new -q --data devmap-gpus --split listed --split-file "$work/unobserved.csv" \
  --group program --average row $(flags "$task.json") -o "$work/unobserved.json"

# The mean loss of loadbalance.cost for each target, from the rows of a comparison.
losses() {
  "$omen" compare -q loadbalance.cost baseline.mean --task "$1" --references none --runs-dir "$work/runs" \
    --csv > "$work/rows.csv"
  awk -F, '$4 == "loadbalance.cost" && $12 != "" { sum[$2] += $12; count[$2]++ }
    END { for (target in sum) print target, sum[target] / count[target] }' "$work/rows.csv"
}
losses "$work/unobserved.json" | sort > "$work/before"
if [ "${OMEN_SHOW_BREAK:-0}" = 1 ]; then
  cp "$work/before" "$work/after"
else
  losses "$task.json" | sort > "$work/after"
fi
# Both machines have one CPU, so its times were seen in training and have nothing to win.
join "$work/before" "$work/after" | awk '
  { known = $1 == "t_cpu_ms"
    printf "SHOW observed_%s_error_ratio %.4f x goal %s\n", $1, $3 / $2, known ? "none" : "< 1"
    found++; if (!known && $3 >= $2) missed = 1 }
  END { exit missed || found < 3 }'
