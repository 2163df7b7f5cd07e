#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Ridge regression and boosted trees held against power.seq on the frozen task, three costs each.
#   verdict.sh OMEN TASK.json; with OMEN_SHOW_BREAK=1 power.seq is not trained.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
seq=power.seq
[ -z "${OMEN_SHOW_BREAK:-}" ] || seq=power.seq@epochs=0
"$1" data info power-corpus --quiet > "$place/info"
"$1" compare "$seq" baseline.ridge baseline.gbt --task "$2" --references none --json --quiet \
  --run-dir "$place/run" > "$place/compare.json"
worse=$(grep -o '"WORSE"' "$place/compare.json" | wc -l)
echo "SHOW seq_beats $worse 1 goal >= 6"
[ "$worse" -ge 6 ]
