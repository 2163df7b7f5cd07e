#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds and runs a program on the component torch of an installed Omen, and configures the same
# project where LibTorch is not found.
#   build_torch.sh SOURCE WORK [CMAKE_ARGUMENT...]
set -euo pipefail
source=$1 work=$2
shift 2
rm -rf "$work" "$work-absent"
cmake -S "$source" -B "$work-absent" -G Ninja -DOMEN_TORCH_DIR=/nowhere -DEXPECT_NO_TORCH=ON "$@"
cmake -S "$source" -B "$work" -G Ninja -DCMAKE_BUILD_TYPE=Release "$@"
cmake --build "$work"
ctest --test-dir "$work" --output-on-failure --no-tests=error
