#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures the dataset on a quiet machine with two cores, in 15 minutes; goes on where it was ended.
# Arguments go to `omen interference measure`.
#   data/coruns-cpu/measure.sh [--window_s X] ...
set -eu
here=$(cd "$(dirname "$0")" && pwd)
omen=${OMEN:-$here/../../build/release/bin/omen}
measured=$here/../../build/coruns-cpu
"$omen" interference measure -o "$measured" "$@"
for table in coruns intervals windows provenance; do cp "$measured/$table.csv" "$here"; done
digest=$(sha256sum "$here/coruns.csv" | cut -d ' ' -f 1)
rows=$(($(wc -l < "$here/coruns.csv") - 1))
cat > "$here/dataset.json" <<END
{
  "format_version": 1,
  "name": "coruns-cpu",
  "summary": "speeds of all pairs of 12 workloads on one core and on two",
  "origin": "measured for Omen by data/coruns-cpu/measure.sh",
  "license": "Apache-2.0",
  "files": [
    {"file": "coruns.csv", "sha256": "$digest", "tables": ["workloads"]}
  ],
  "rows": {"workloads": $rows},
  "group": "pair",
  "columns": {
    "job": {"meaning": "the load that is slowed down"},
    "family": {"meaning": "what does alike work"},
    "pair": {"meaning": "both loads, whichever is the job"},
    "device": {"meaning": "what is shared"},
    "mode": {"meaning": "two-cores: one core each; one-core: both on the same"},
    "util_pct": {"unit": "%", "meaning": "of the cores that the pair has, alone"},
    "step_ms": {"unit": "ms", "meaning": "of the job alone"},
    "rss_mib": {"unit": "MiB", "meaning": "resident memory"},
    "beside_memory": {"unit": "1", "meaning": "speed beside the loop memory; likewise compute and cache"},
    "slows_memory": {"unit": "1", "meaning": "speed of the loop memory beside the job; likewise compute and cache"},
    "rho": {"unit": "1", "meaning": "speed beside the partner over speed alone, median of the rounds"}
  },
  "targets": ["rho:1:higher"]
}
END
