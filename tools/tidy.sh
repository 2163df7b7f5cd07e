#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs clang-tidy over sources of a configured build; findings are errors.
#   tools/tidy.sh BUILD                           every file
#   tools/tidy.sh BUILD FILE...                   these
#   tools/tidy.sh BUILD --changed N [--most M] [--seconds S]
#     files of the last N commits, newest first: at most M, and as many as fit into about S CPU seconds
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$1 changed=0 most=0 seconds=0 named=()
shift
while [ $# -gt 0 ]; do
  case $1 in
    --changed) changed=$2; shift ;;
    --most) most=$2; shift ;;
    --seconds) seconds=$2; shift ;;
    *) named+=("$1") ;;
  esac
  shift
done

# Sources that the build compiles, relative to the clone and without generated ones.
compiled() {
  sed -n "s|^  \"file\": \"$PWD/\(.*\.cpp\)\",\?\$|\1|p" "$build/compile_commands.json" |
    grep -v '^build/' | sort -u
}

# Files of the last commits, newest first; a header stands for the source of the same name.
recent() {
  git log -n "$changed" --name-only --diff-filter=d --format= -- '*.cpp' '*.hpp' |
    awk 'NF { sub(/\.hpp$/, ".cpp"); if (!seen[$0]++) print }' | grep -Fxf <(compiled) || true
}

if [ ${#named[@]} -gt 0 ]; then
  files=("${named[@]}")
elif [ "$changed" -gt 0 ]; then
  mapfile -t files < <(recent)
else
  mapfile -t files < <(compiled)
fi

[ "$most" -eq 0 ] || files=("${files[@]:0:most}")

# used NAME: CPU seconds of this shell's children so far; a subshell would only see its own.
used() {
  times >"$work/times.$1"
  awk 'NR == 2 { split($0, t, /[ms ]+/); print int(t[1] * 60 + t[2] + t[3] * 60 + t[4]) }' \
    "$work/times.$1" >"$work/used.$1"
  cpu=$(<"$work/used.$1")
}

# check PART PARTS: every PARTS-th file, one after the other.
check() {
  local i status=0 done=0 cpu=0 log="$work/log.$1"
  for ((i = $1; i < ${#files[@]}; i += $2)); do
    if [ "$seconds" -gt 0 ] && [ "$cpu" -ge $((seconds / $2)) ]; then break; fi
    if ! clang-tidy-14 --quiet --warnings-as-errors='*' -p "$build" "${files[i]}" >"$log" 2>/dev/null; then
      cat "$log"
      status=1
    fi
    done=$((done + 1))
    used "$1"
  done
  printf '%d %d\n' "$done" "$cpu" >"$work/done.$1"
  return $status
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
parts=${OMEN_TIDY_JOBS:-$(nproc)} status=0 pids=()
for ((part = 0; part < parts; ++part)); do
  check "$part" "$parts" &
  pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid" || status=1; done
cat "$work"/done.* | awk -v all=${#files[@]} '{ files += $1; cpu += $2 }
  END { printf "clang-tidy: %d of %d files in %d CPU seconds\n", files, all, cpu }'
exit $status
