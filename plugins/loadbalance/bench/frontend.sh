#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Finds modules and the published binary for the figures of the front end, then measures.
#   frontend.sh build|peer|equal PROGRAM SCRATCH PACKAGES
set -eu
mode=$1 program=$2 scratch=$3 packages=$4/programl
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../../..
mkdir -p "$scratch"
modules=$scratch/kernels_ir
if [ "$mode" != equal ] && [ ! -d "$modules" ]; then
  archive=${OMEN_DATA:-}/loadbalance/devmap/kernels_ir.tar.bz2
  if [ ! -f "$archive" ]; then
    echo "skipped: OMEN_DATA is not set: the track's public data is absent"
    exit 77
  fi
  partial=$(mktemp -d "$scratch/unpack.XXXXXX")
  tar -xjf "$archive" -C "$partial"
  mv -T "$partial/kernels_ir" "$modules" 2>/dev/null || true
  rm -rf "$partial"
fi
if [ "$mode" != build ]; then
  . "$root/tools/setup/python_packages.sh"
  python_packages "$packages" "$here/programl-requirements.txt"
fi
binary=$packages/programl/bin/llvm2graph-10
case $mode in
  build) exec "$program" --build "$modules" ;;
  peer) exec "$program" --peer "$modules" "$binary" ;;
  equal) exec "$program" "$binary" "$scratch" ;;
esac
