#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Labels of both platforms' datasets, which are made here where they are not in the cache, and
# whether the tasks are frozen on the graphs that the front end gives.
#   labels.sh OMEN LOADBALANCE_CORPORA
set -eu
if [ -z "${OMEN_DATA:-}" ] || [ ! -d "$OMEN_DATA/loadbalance" ]; then
  echo "skipped: OMEN_DATA is not set: the track's public data is absent"
  exit 77
fi
cache=${XDG_CACHE_HOME:-$HOME/.cache}/omen/datasets
for dataset in devmap-nvidia-graphs devmap-amd-graphs; do
  "$1" data info "$dataset" -q >/dev/null
done
for protocol in shuffled grouped suite; do
  "$1" task check "devmap-nvidia-$protocol" "devmap-amd-$protocol"
done
exec "$2" labels "$cache/devmap-nvidia-graphs/tables.omt" "$cache/devmap-amd-graphs/tables.omt"
