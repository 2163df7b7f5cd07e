#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds an outside project against Omen, runs its own tests, and uses its plugin with omen.
#   build_project.sh SOURCE WORK OMEN [CMAKE_ARGUMENT...]
# The plugin must be called 'consume' and pass its own exports and conformance tests.
set -euo pipefail
source=$1 work=$2 omen=$3
shift 3
rm -rf "$work"
cmake -S "$source" -B "$work" -G Ninja -DCMAKE_BUILD_TYPE=Release "$@" >"$work.log" 2>&1 || {
  cat "$work.log"
  exit 1
}
cmake --build "$work" --parallel
ctest --test-dir "$work" --output-on-failure --no-tests=error -R '\.consume$|CostTest'
"$omen" list --plain --plugin-path "$work/plugins" | tee "$work/list.txt"
grep -q 'consume\.' "$work/list.txt" || { echo "error: omen lists no component of consume"; exit 1; }
