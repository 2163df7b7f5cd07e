#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Out-of-memory runs that omen finds in a perf table, against the table of truth, which omen does
# not see.
#   oom.sh OMEN
# With OMEN_SHOW_BREAK=1 the batch sizes of the table are turned round.
set -eu
omen=$1
driple=${OMEN_DATA:-none}/driple
[ -e "$driple/training_perf_file.csv" ] || {
  echo "the perf file is missing: point OMEN_DATA at the data"
  exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -n "${OMEN_SHOW_BREAK:-}" ]; then
  awk -F, 'BEGIN { OFS = "," } NR > 1 { $3 = 512 / $3 } 1' "$driple/training_perf_file.csv" >"$work/perf.csv"
else
  cp "$driple/training_perf_file.csv" "$work/perf.csv"
fi
"$omen" profile failures "$work/perf.csv" --json -q >"$work/found.json"
# One line a run: GPU model optimizer dataset batch epochs.
tr -d '\n' <"$work/found.json" | sed 's/}/}\n/g' |
  sed -n 's/.*"group": "\([^"]*\)", *"size": \([0-9.]*\), *"work": \([0-9.]*\),.*/\1 \2 \3/p' | sort >"$work/found"
awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
  $at["oom"] == 1 { print $at["gpu"], $at["model"], $at["optimizer"], $at["dataset"], $at["batch"], $at["epochs"] }' \
  "$driple/jobs_clean.csv" | sort >"$work/truth"
truth=$(wc -l <"$work/truth")
hits=$(comm -12 "$work/found" "$work/truth" | wc -l)
alarms=$(comm -23 "$work/found" "$work/truth" | wc -l)
echo "SHOW oom_runs $truth runs goal == 48"
echo "SHOW oom_runs_found $hits runs goal == 48"
echo "SHOW oom_false_alarms $alarms runs goal <= 5"
[ "$truth" -eq 48 ] && [ "$hits" -eq 48 ] && [ "$alarms" -le 5 ]
