#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Layer evaluations of ours against NumPy's and the SCALE-Sim package's in the same run.
#   layers.sh POWER_LAYER_SPEED PACKAGES_DIRECTORY
set -eu
here=$(cd "$(dirname "$0")" && pwd)
packages=$2/scale-sim
. "$here/../../../tools/setup/python_packages.sh"
python_packages "$packages" "$here/requirements.txt"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONPATH=$packages
exec "$1" "$python" "$here/layers_peer.py"
