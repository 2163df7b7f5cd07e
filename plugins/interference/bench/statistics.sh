#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Correlations, k-means and PCHIP of ours against SciPy, scikit-learn and NumPy in the same run.
#   statistics.sh STATISTICS_SPEED PACKAGES_DIRECTORY
set -eu
here=$(cd "$(dirname "$0")" && pwd)
packages=$2/scientific
. "$here/../../../tools/setup/python_packages.sh"
python_packages "$packages" "$here/requirements.txt"
export OMP_NUM_THREADS=2 OPENBLAS_NUM_THREADS=2 PYTHONPATH=$packages
exec "$1" "$python" "$here/statistics_peer.py"
