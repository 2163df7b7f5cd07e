#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Bytes of the corpus as a dataset, against its blocks written out on every row.
#   storage.sh OMEN POWER_FIGURES
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
"$1" data make power-corpus --with power.corpus -o "$place/corpus" --quiet
"$2" storage "$place"
