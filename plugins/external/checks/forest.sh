#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The scikit-learn example against a constant on the bundled task.
#   forest.sh OMEN PACKAGES_DIRECTORY
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../../..
omen=$1 packages=$2/forest
. "$root/tools/setup/python_packages.sh"
python_packages "$packages" "$root/plugins/external/examples/forest.lock"
. "$here/compare.sh"

compare_example forest.py "$packages" "$root/plugins/baseline/tasks/matmul-cpu.json"
