#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Boosted trees and the closed form alone held against power.llm on shapes that were not seen: time,
# power and energy each.
#   verdict.sh OMEN TASK.json; with OMEN_SHOW_BREAK=1 the mean stands for power.llm.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
model=power.llm
[ -z "${OMEN_SHOW_BREAK:-}" ] || model=baseline.mean
"$1" data info llm-bench --quiet > "$place/info"
"$1" compare "$model" power.llm@core=true baseline.gbt --task "$2" --references none --json --quiet \
  --run-dir "$place/run" > "$place/compare.json"
worse=$(grep -o '"WORSE"' "$place/compare.json" | wc -l)
echo "SHOW llm_beats $worse 1 goal >= 6"
[ "$worse" -ge 6 ]
