#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Bootstrap medians of ours against NumPy's in the same run.
#   bootstrap.sh BOOTSTRAP_BENCH PACKAGES_DIRECTORY
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
packages=$2/safetensors
. "$root/tools/setup/python_packages.sh"
python_packages "$packages" "$root/tests/interop/requirements.txt"
# One thread each: CPU time is compared, and spinning helpers would only add to NumPy's.
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONPATH=$packages
exec "$1" --show "$python" "$here/bootstrap_peer.py"
