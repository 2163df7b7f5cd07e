#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The PyTorch Geometric example against a constant on made-up graphs.
#   gnn.sh OMEN PACKAGES_DIRECTORY
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../../..
omen=$1 packages=$2/gnn
. "$root/tools/setup/python_packages.sh"
python_packages "$packages" "$root/plugins/external/examples/gnn.lock"
. "$here/compare.sh"

"$python" "$here/make_graphs.py" "$work/graphs.json"
"$omen" data import "$work/graphs.json" --with baseline.nodelink --target cost:ms:lower \
  --group group -o "$work/graphs"
"$omen" task new -o "$work/task.json" --data "$work/graphs" --input nodes --input edges \
  --loss absolute-percent --folds 2
compare_example gnn.py "$packages" "$work/task.json"
