#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Trains the model that plugins/interference brings along, from this dataset alone.
#   data/coruns-cpu/train.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
omen=${OMEN:-$here/../../build/release/bin/omen}
"$omen" train interference.pair --data "$here" --seed 1 \
  -o "$here/../../plugins/interference/models/cpu.omen"
