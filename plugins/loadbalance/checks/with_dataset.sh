#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes a dataset of the public data where it is not in the cache yet, and puts the path of its
# tables where the command has TABLES.
#   with_dataset.sh OMEN DATASET COMMAND...
set -eu
omen=$1
dataset=$2
shift 2
tables=${XDG_CACHE_HOME:-$HOME/.cache}/omen/datasets/$dataset/tables.omt
if [ -z "${OMEN_DATA:-}" ] || [ ! -d "$OMEN_DATA/loadbalance" ]; then
  echo "skipped: OMEN_DATA is not set: the track's public data is absent"
  exit 77
fi
"$omen" data info "$dataset" -q >/dev/null
count=$#
while [ "$count" -gt 0 ]; do
  argument=$1
  shift
  [ "$argument" != TABLES ] || argument=$tables
  set -- "$@" "$argument"
  count=$((count - 1))
done
exec "$@"
