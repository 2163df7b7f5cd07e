#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares `omen profile -- stress-ng` with mpstat over the same seconds, and prints the sampler's cost.
#   mpstat.sh OMEN
# With OMEN_SHOW_BREAK=1 the wrong column of the trace is compared.
set -eu
omen=$1
for tool in mpstat stress-ng; do
  command -v "$tool" >/dev/null || { echo "$tool is missing: apt install sysstat stress-ng"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C

# mpstat runs inside the job, so that both see the same seconds.
cat >"$work/job.sh" <<'JOB'
mpstat -P ALL 5 1 >"$1/mpstat.txt" &
stress-ng --cpu 1 --timeout 5 --quiet
wait
JOB
column=cpu.busy_percent
[ -z "${OMEN_SHOW_BREAK:-}" ] || column=cpu.iowait_percent
"$omen" profile --with telemetry.host --no-plot -q -o "$work/run.csv" -- sh "$work/job.sh" "$work"

# Mean of busy over all cores and of each core, weighted by the time between rows, over mpstat's five seconds.
awk -F, -v column=$column -v limit=5.2e9 '
  NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
  $at["metric"] == column {
    core = $at["device"]; t = $at["t_ns"]
    if (t > limit) next
    weight = t - last[core]; last[core] = t
    sum[core] += weight * $at["value"]; all[core] += weight
  }
  END { for (core in sum) print core, sum[core] / all[core] }' "$work/run.csv" | sort -n >"$work/omen.txt"
awk '/^Average:/ && $2 != "CPU" { print ($2 == "all" ? -1 : $2), 100 - $NF }' "$work/mpstat.txt" |
  sort -n >"$work/reference.txt"
awk '
  NR == FNR { reference[$1] = $2; next }
  { ours[$1] = $2 }
  END {
    for (core in ours) if (core >= 0 && ours[core] > most) { most = ours[core]; busiest = core }
    for (core in reference) if (core >= 0 && reference[core] > peak) peak = reference[core]
    mean = ours[-1] - reference[-1]; core = most - peak
    printf "omen: all %.2f, busiest core %d %.2f; mpstat: all %.2f, busiest %.2f\n",
           ours[-1], busiest, most, reference[-1], peak
    printf "SHOW mpstat_mean_difference %.3f points goal <= 3\n", mean < 0 ? -mean : mean
    printf "SHOW mpstat_busiest_difference %.3f points goal <= 3\n", core < 0 ? -core : core
    exit (mean > 3 || mean < -3 || core > 3 || core < -3)
  }' "$work/reference.txt" "$work/omen.txt"
