#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# CPU time and lateness of the sampler at 100 ms while one core is loaded.
#   sampler_cost.sh OMEN
# With OMEN_SHOW_BREAK=1 it samples at 10 ms below a tree of many processes.
set -eu
omen=$1
command -v stress-ng >/dev/null || { echo "stress-ng is missing: apt install stress-ng"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
interval=100
load='stress-ng --cpu 1 --timeout 5 --quiet'
if [ -n "${OMEN_SHOW_BREAK:-}" ]; then
  interval=10
  load='i=0; while [ $i -lt 60 ]; do sleep 5 & i=$((i+1)); done; wait'
fi
"$omen" profile --with telemetry.host --interval_ms $interval --no-plot -q -o "$work/run.csv" -- sh -c "$load"
awk -F, '
  NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
  $at["metric"] ~ /^sampler\./ && $at["device"] == 0 { value[$at["metric"]] = $at["value"] }
  END {
    cost = value["sampler.cpu_percent"]
    printf "SHOW sampler_cpu %.3f percent goal < 1\n", cost
    printf "SHOW sampler_lateness_p50 %.3f ms goal none\n", value["sampler.lateness_p50_ms"]
    printf "SHOW sampler_lateness_p99 %.3f ms goal none\n", value["sampler.lateness_p99_ms"]
    printf "SHOW sampler_missed_ticks %d ticks goal none\n", value["sampler.missed_ticks"]
    exit !(cost < 1)
  }' "$work/run.csv"
