#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs fuzz targets two at a time, then measures how much of the file under test they reach.
#   run.sh BUILD_DIRECTORY SECONDS [NAME...]
# Targets lie here and in plugins/*/fuzz, each with its corpus beside it.
# A target names the files it covers in lines '// covers: <path>'. Findings are kept in
# BUILD_DIRECTORY/fuzz/findings. With OMEN_SHOW_BREAK=1 no input is run, so coverage collapses.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$1 seconds=$2
shift 2
[ $# -gt 0 ] || set -- $(cd "$build/fuzz" && ls ./*_fuzz 2>/dev/null | sed -e 's|^\./||' -e 's/_fuzz$//')
[ $# -gt 0 ] || { echo "error: no fuzz targets in $build/fuzz"; exit 1; }

# home_of NAME: the directory of a target's source.
home_of() {
  local source
  for source in "$root"/tests/fuzz/"$1"_fuzz.cpp "$root"/plugins/*/fuzz/"$1"_fuzz.cpp; do
    [ ! -f "$source" ] || { dirname "$source"; return; }
  done
  echo "error: no $1_fuzz.cpp in tests/fuzz or plugins/*/fuzz" >&2
  return 1
}

# fuzz_one NAME: a time-limited run from the committed corpus; found inputs stay in the build tree.
fuzz_one() {
  local program="$build/fuzz/${1}_fuzz" grown="$build/fuzz/grown/$1" home
  home=$(home_of "$1") || return
  mkdir -p "$grown" "$build/fuzz/findings"
  rm -f "$build/fuzz/$1.log"
  [ -z "${OMEN_SHOW_BREAK:-}" ] || return 0
  LLVM_PROFILE_FILE=/dev/null "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -print_final_stats=1 -artifact_prefix="$build/fuzz/findings/$1-" "$grown" "$home/corpus/$1" \
    >"$build/fuzz/$1.log" 2>&1
}

# coverage_of NAME: percent of lines reached in the covered files, over all inputs.
coverage_of() {
  local program="$build/fuzz/${1}_fuzz" profile="$build/fuzz/$1" inputs files home
  home=$(home_of "$1") || return
  inputs=(-runs=0 "$build/fuzz/grown/$1" "$home/corpus/$1")
  [ -z "${OMEN_SHOW_BREAK:-}" ] || inputs=(-help=1)
  files=$(sed -n 's|^// covers: ||p' "$home/${1}_fuzz.cpp" | paste -sd' ')
  LLVM_PROFILE_FILE="$profile.profraw" "$program" "${inputs[@]}" >/dev/null 2>&1
  llvm-profdata-14 merge -o "$profile.profdata" "$profile.profraw" >&2
  # Names are matched here, because objects out of a compiler cache carry relative ones.
  llvm-cov-14 report "$program" -instr-profile="$profile.profdata" |
    awk -v files="$files" '
      BEGIN { count = split(files, wanted, " ") }
      { for (i = 1; i <= count; i++)
          if (substr($1, length($1) - length(wanted[i]) + 1) == wanted[i]) { all += $8; missed += $9 } }
      END { printf "%.2f\n", all ? 100 * (all - missed) / all : 0 }'
}

status=0
for name in "$@"; do
  while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
  (fuzz_one "$name"; echo $? >"$build/fuzz/$name.status") &
done
wait
for name in "$@"; do
  findings=$(find "$build/fuzz/findings" -name "$name-*" | wc -l)
  [ "$(cat "$build/fuzz/$name.status")" -eq 0 ] || {
    status=1
    [ "$findings" -gt 0 ] || findings=1
    tail -n 40 "$build/fuzz/$name.log"
  }
  lines=$(coverage_of "$name")
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/fuzz/$name.log" 2>/dev/null)
  echo "SHOW fuzz_${name}_runs ${runs:-0} inputs goal none"
  echo "SHOW fuzz_${name}_findings $findings inputs goal == 0"
  echo "SHOW fuzz_${name}_lines ${lines:-0} % goal >= 60"
  awk -v lines="${lines:-0}" 'BEGIN { exit !(lines >= 60) }' || status=1
done
exit $status
