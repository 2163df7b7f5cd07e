#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs one acceptance check, keeps its SHOW lines, and judges them against their own goals.
#   run_check.sh check|control RECORD COMMAND...
# check: the command must succeed and every figure must meet its goal.
# control: the command, broken on purpose, must fail and print a figure that misses its goal.
set -u
mode=$1 record=$2
shift 2

mkdir -p "$(dirname "$record")"
rm -f "$record"
if [ "$mode" = control ]; then
  OMEN_SHOW_BREAK=1
  export OMEN_SHOW_BREAK
fi
output=$(mktemp)
trap 'rm -f "$output"' EXIT
"$@" >"$output" 2>&1
status=$?
cat "$output"
[ "$status" -eq 77 ] && exit 77

# A line is: SHOW name value unit goal none | SHOW name value unit goal op bound
grep '^SHOW ' "$output" | awk '
  function met(v, op, b) {
    if (op == "<") return v < b
    if (op == "<=") return v <= b
    if (op == ">") return v > b
    if (op == ">=") return v >= b
    if (op == "==") return v == b
    return 0
  }
  {
    number = $3 ~ /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$/
    state = "bad"
    if ($5 == "goal" && $6 == "none" && NF == 6) state = "printed"
    else if ($5 == "goal" && NF == 7 && number) state = met($3 + 0, $6, $7 + 0) ? "ok" : "missed"
    print state, $0
  }' >"$record"

if [ ! -s "$record" ]; then
  echo "error: no SHOW line was printed (exit $status)"
  exit 1
fi
if grep '^bad ' "$record"; then
  echo "error: expected 'SHOW <name> <value> <unit> goal <op> <bound>' or 'goal none'"
  exit 1
fi
if [ "$mode" = control ]; then
  if [ "$status" -ne 0 ] && { grep -q '^missed ' "$record" || ! grep -q '^ok ' "$record"; }; then
    exit 0
  fi
  echo "error: broken on purpose, yet it exits $status and no figure misses its goal"
  exit 1
fi
[ "$status" -eq 0 ] || exit 1
! grep -q '^missed ' "$record"
