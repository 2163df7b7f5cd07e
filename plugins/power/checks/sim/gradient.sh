#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Recovery along the slopes of power.seq beside the search that asks the simulator alone.
#   gradient.sh OMEN POWER_FIGURES
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
"$2" gradient "$1" "$place"
