#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fetches PyTorch Geometric for the peer, then measures.
#   network_speed.sh MODE PROGRAM TABLES PACKAGES SCRATCH
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../../..
packages=$4/gnn
. "$root/tools/setup/python_packages.sh"
python_packages "$packages" "$root/plugins/external/examples/gnn.lock"
mkdir -p "$5"
export OMP_NUM_THREADS=1 PYTHONPATH=$packages PYTHONDONTWRITEBYTECODE=1
exec "$2" "$1" "$3" "$python" "$here/network_peer.py" "$5"
