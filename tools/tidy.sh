#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs clang-tidy over the units of a configured build; findings are errors. A unit joins the sources of a target, so that
# their common headers are read once.
#   tools/tidy.sh BUILD                           every unit
#   tools/tidy.sh BUILD FILE...                   the units of these sources
#   tools/tidy.sh BUILD --changed N [--seconds S]
#     the units of the last N commits' sources, newest first: as many as fit into about S CPU seconds
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1 changed=0 seconds=0 named=()
shift
while [ $# -gt 0 ]; do
  case $1 in
    --changed) changed=$2; shift ;;
    --seconds) seconds=$2; shift ;;
    *) named+=("$1") ;;
  esac
  shift
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Every unit with each source in it, "UNIT SOURCE", sources relative to the clone; generated sources are left out.
sed -nE 's#^  "file": "(.*\.(cpp|cxx))",?$#\1#p' "$build/compile_commands.json" | sort -u |
  while read -r unit; do
    case $unit in
      */Unity/unity_*) sed -n "s|^#include \"$PWD/\(.*\.cpp\)\"\$|$unit \1|p" "$unit" ;;
      "$PWD"/*) printf '%s %s\n' "$unit" "${unit#"$PWD"/}" ;;
    esac
  done | grep -v ' build/' >"$work/units"

# units_of: the units that hold the sources on standard input, in their order.
units_of() {
  awk 'FNR == NR { units[$2] = units[$2] " " $1; next }
       { count = split(units[$0], list, " "); for (i = 1; i <= count; ++i) if (!seen[list[i]]++) print list[i] }' \
    "$work/units" -
}

# Sources of the last commits, newest first; a header stands for the source of the same name.
recent() {
  git log -n "$changed" --name-only --diff-filter=d --format= -- '*.cpp' '*.hpp' | sed 's/\.hpp$/.cpp/'
}

if [ ${#named[@]} -gt 0 ]; then
  mapfile -t chosen < <(printf '%s\n' "${named[@]}" | units_of)
elif [ "$changed" -gt 0 ]; then
  mapfile -t chosen < <(recent | units_of)
else
  mapfile -t chosen < <(cut -d ' ' -f 1 "$work/units" | uniq)
fi

# used NAME: CPU seconds of this shell's children so far; a subshell would only see its own.
used() {
  times >"$work/times.$1"
  awk 'NR == 2 { split($0, t, /[ms ]+/); print int(t[1] * 60 + t[2] + t[3] * 60 + t[4]) }' \
    "$work/times.$1" >"$work/used.$1"
  cpu=$(<"$work/used.$1")
}

# check PART PARTS: every PARTS-th unit, one after the other. That a unit includes sources is its purpose.
check() {
  local i status=0 done=0 cpu=0 log="$work/log.$1"
  for ((i = $1; i < ${#chosen[@]}; i += $2)); do
    if [ "$seconds" -gt 0 ] && [ "$cpu" -ge $((seconds / $2)) ]; then break; fi
    if ! clang-tidy-14 --quiet --warnings-as-errors='*' --checks=-bugprone-suspicious-include -p "$build" \
      "${chosen[i]}" >"$log" 2>/dev/null; then
      cat "$log"
      status=1
    fi
    done=$((done + 1))
    used "$1"
  done
  printf '%d %d\n' "$done" "$cpu" >"$work/done.$1"
  return $status
}

parts=${OMEN_TIDY_JOBS:-$(nproc)} status=0 pids=()
for ((part = 0; part < parts; ++part)); do
  check "$part" "$parts" &
  pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid" || status=1; done
cat "$work"/done.* | awk -v all=${#chosen[@]} '{ units += $1; cpu += $2 }
  END { printf "clang-tidy: %d of %d units in %d CPU seconds\n", units, all, cpu }'
exit $status
