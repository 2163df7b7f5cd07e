#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Program graphs exchanged with PyTorch Geometric and networkx, or with the published ProGraML.
#   graphs.sh pyg|programl OMEN PACKAGES_DIRECTORY
# The packages are installed there once. Without them and without PyPI the test is skipped (77).
set -eu
mode=$1 omen=$2
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../../../..
kernels=$root/plugins/loadbalance/examples
. "$root/tools/setup/python_packages.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ "$mode" = pyg ]; then
  packages=$3/gnn
  python_packages "$packages" "$root/plugins/external/examples/gnn.lock"
  "$omen" graph "$kernels"/*.cl -q -o "$work/all.json"
  PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$packages "$python" "$here/graph_exchange.py" pyg \
    "$work/all.json" "$kernels"
  exit
fi

packages=$3/programl
python_packages "$packages" "$root/plugins/loadbalance/bench/programl-requirements.txt"
internal=$packages/programl/ir/llvm/internal
exchange() { PYTHONDONTWRITEBYTECODE=1 "$python" "$here/graph_exchange.py" "$@"; }
exchange dictionary "$internal/inst2vec_augmented_dictionary.pickle" "$work/statements.jsonl"
for kernel in saxpy matmul stencil nbody; do
  "$omen" graph "$kernels/$kernel.cl" -q --full-text --inst2vec "$work/statements.jsonl" \
    -o "$work/$kernel.json"
  "$omen" graph "$kernels/$kernel.cl" -q --full-text -o "$work/$kernel.pb"
  exchange message "$work/$kernel.json" "$work/$kernel.pb" "$packages/programl/bin/graph2json"
  exchange statements "$work/$kernel.json" "$work/statements.jsonl" "$packages"
done

# Modules of C and C++ have structures, which kernels here have not.
archive=${OMEN_DATA:-}/loadbalance/llvm_ir_1000/llvm_ir.tar.bz2
[ -f "$archive" ] || exit 0
mkdir "$work/modules"
tar -xjf "$archive" -C "$work/modules" --wildcards '*5.ll'
modules=$(dirname "$(find "$work/modules" -name '005.ll')")
"$omen" graph "$modules" -q --full-text --inst2vec "$work/statements.jsonl" -o "$work/modules.json"
exchange statements "$work/modules.json" "$work/statements.jsonl" "$packages" "$modules"
