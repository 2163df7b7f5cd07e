#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fetches PyTorch and the peers, then measures: alternatives.sh OMEN PACKAGES all|advise [COPIES]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../../../..
. "$root/tools/setup/python_packages.sh"
python_packages "$2/gnn" "$root/plugins/external/examples/gnn.lock"
python_packages "$2/ensemble-peers" "$here/peers.lock"
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH=$2/ensemble-peers:$2/gnn:$root/plugins/ensemble/examples
exec "$python" "$here/alternatives.py" "$1" "${@:3}"
