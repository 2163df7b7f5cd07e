#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fits the three numbers of models/gpu.omen to Alnair's co-runs under MPS; OMEN_DATA has the tables.
#   plugins/interference/models/train_gpu.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
omen=${OMEN:-$here/../../../build/release/bin/omen}
alnair=$OMEN_DATA/interference/alnair
rows=$(mktemp --suffix .csv)
trap 'rm -f "$rows"' EXIT
# Columns that the law needs and no others: a model asks for those that it was trained on.
awk -F, '
  NR == FNR { if (FNR > 1) util[$1] = $6; next }
  FNR == 1 { print "job,partner,util_pct,partner_util_pct,device,mode,rho"; next }
  { print $1 "," $2 "," util[$1] "," util[$2] ",alnair-server,mps," 1 / $4 }
' "$alnair/alnair_mps_solo.csv" "$alnair/alnair_mps_pairs.csv" >"$rows"
"$omen" train interference.pair --method delay_law --data "$rows" --target rho:1:higher --seed 1 \
  -o "$here/gpu.omen"
