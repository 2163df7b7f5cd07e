#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds a plugin with clang and lets the host, built by another compiler, predict with it.
#   clang_plugin.sh OMEN SOURCE_DIRECTORY
# With OMEN_SHOW_BREAK=1 one byte of the library changes after the build, so the host refuses it.
set -euo pipefail
omen=$1 root=$2
command -v clang++-14 >/dev/null || { echo "clang++-14 is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMEN_PLUGIN_PATH="$work/build/plugins"
cmake -S "$root/tests/consume/find_package" -B "$work/build" -G Ninja \
  -DCMAKE_PREFIX_PATH="$(dirname "$(dirname "$omen")")" \
  -DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14 >/dev/null
cmake --build "$work/build"
[ -z "${OMEN_SHOW_BREAK:-}" ] || printf x >>"$work/build/plugins/consume/libconsume.so"

rows=0
if "$omen" train consume.mean --data "$root/data/matmul-cpu/matmul.csv" \
  --target time_ms:ms:lower -o "$work/model.omen"; then
  rows=$("$omen" predict -q --plain -m "$work/model.omen" "$root/examples/matmul.csv" | grep -c ' ok$')
fi
wanted=$(($(wc -l <"$root/examples/matmul.csv") - 1))
echo "SHOW clang_plugin_rows $rows rows goal == $wanted"
[ "$rows" -eq "$wanted" ]
