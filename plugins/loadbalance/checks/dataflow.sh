#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Graphs of the 1,000 public modules in three parts, made once, and a check on one of them.
#   dataflow.sh OMEN CHECK WORK score TASK MODEL [fast]
set -eu
omen=$1 check=$2 work=$3
shift 3
archive=${OMEN_DATA:-}/loadbalance/llvm_ir_1000/llvm_ir.tar.bz2
if [ -z "${OMEN_DATA:-}" ] || [ ! -f "$archive" ]; then
  echo "skipped: OMEN_DATA is not set: the track's public data is absent"
  exit 77
fi
if [ ! -f "$work/test.omt" ]; then
  mkdir -p "$work/modules"
  tar -xjf "$archive" -C "$work/modules"
  "$omen" graph "$work/modules" --with loadbalance.programl -j 2 -q -o "$work/graphs.omt" >/dev/null
  "$check" split "$work/graphs.omt" "$work"
  rm -rf "$work/modules"
fi
[ "$#" -eq 0 ] && exit 0
task=$2 model=$3
shift 3
exec "$check" score "$task" "$model" "$work/test.omt" "$@"
