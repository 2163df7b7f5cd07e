#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sets up what is missing, builds the Release product and runs omen; without arguments, a tour.
set -euo pipefail
OMEN_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$OMEN_ROOT/tools/setup/common.sh"
. "$OMEN_ROOT/tools/setup/wheels.sh"
. "$OMEN_ROOT/tools/setup/build.sh"

install_packages build
setup_torch
setup_extras
# A tree that test.sh configured keeps its tests; only the product is built here.
if ! configured release; then configure release -DOMEN_BUILD_TESTS=OFF; fi
build release omen_product

export_data_dir
omen="$OMEN_ROOT/build/release/bin/omen"
[ $# -eq 0 ] || exec "$omen" "$@"

# The tour: each step prints the command that anyone could type, then runs it.
step() {
  printf '\n%s\n$ omen %s\n' "$1" "${*:2}"
  "$omen" "${@:2}"
}
cd "$OMEN_ROOT"
step "The plugins that were found:" list
step "One prediction, with the model bundled with the plugin:" predict examples/matmul.csv
if [ -d build/release/plugins/driple ]; then
  step "Which GPU for a network, how long a step takes and whether it fits:" \
    score driple.allocate resnet50 --batch 64 --gpus gtx1080,v100,a100,h100
  step "The same for a language model, over several GPUs:" \
    score driple.allocate plugins/driple/examples/llama-3-8b.json --train --tokens 4k \
    --gpus a100-80:8,h100:8 --top 3
fi
if [ -d build/release/plugins/loadbalance-llvm ]; then
  step "An OpenCL kernel drawn as a graph, to be opened in a browser:" \
    graph plugins/loadbalance/examples/saxpy.cl -o build/saxpy.svg
fi
step "Two predictors on the same folds, with the verdict and the page that shows it:" \
  compare baseline.ridge baseline.gbt --task matmul-cpu
printf '\nNext: omen --help, or write a plugin of your own: omen new mine --kind predictor\n'
printf 'The program is %s\n' "build/release/bin/omen"
