#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Writes a plugin with `omen new`, builds it as its README says, and runs the tests it comes with.
#   build_template.sh OMEN WORK KIND LANGUAGE
set -euo pipefail
omen=$1 work=$2 kind=$3 language=$4
rm -rf "$work"
mkdir -p "$work"
cd "$work"
# CMake finds the package beside the program that is in PATH.
export PATH="$(dirname "$omen"):$PATH"
"$omen" new sample --kind "$kind" --lang "$language"
cmake -S sample -B sample/build -G Ninja
cmake --build sample/build
ctest --test-dir sample/build --output-on-failure --no-tests=error -R SampleTest
ctest --test-dir sample/build --output-on-failure --no-tests=error -E SampleTest
"$omen" list --plain --plugin-path sample/build/plugins | grep sample
