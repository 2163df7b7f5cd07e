#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs on the default devices, halves of one, whose answer got lost: the driver's threads once met
# objects that had gone.
#   lost_runs.sh OMEN EXAMPLES RUNS
set -u
omen=$1 examples=$2 runs=$3
lost=0 made=0 late=0 log=$(mktemp)
trap 'rm -f "$log"' EXIT
# The control ends every run before it can answer.
limit=120
[ -z "${OMEN_SHOW_BREAK:-}" ] || limit=0.1

attempt() {
  made=$((made + 1))
  timeout "$limit" "$omen" loadbalance run "$@" -q --plain >"$log" 2>&1 && answered=1 || answered=0
  late=$((late + $(grep -c 'crashed after its last answer' "$log")))
  [ $answered -eq 0 ] || return
  lost=$((lost + 1))
  cat "$log"
}

turn=0
while [ $turn -lt "$runs" ]; do
  turn=$((turn + 1))
  attempt "$examples/matmul.cl" --global 256,256 --local 16,16
  [ "$runs" -le 5 ] || attempt "$examples/matmul.cl" --global 256,256 --local 16,16 --sweep
done
if [ "$runs" -gt 5 ]; then
  for kernel in saxpy mandelbrot stencil reduce "nbody --global 2048" "spmv --global 4096"; do
    turn=0
    while [ $turn -lt "$runs" ]; do
      turn=$((turn + 1))
      # shellcheck disable=SC2086
      set -- $kernel
      name=$1
      shift
      attempt "$examples/$name.cl" "$@"
    done
  done
fi
echo "SHOW lost_runs_of_$made $lost runs goal == 0"
echo "SHOW driver_crashed_after_its_answer $late runs goal none"
[ $lost -eq 0 ]
