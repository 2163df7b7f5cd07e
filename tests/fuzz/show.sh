#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzz preset and runs one target for a minute: the acceptance check of that target.
set -eu
cd "$(dirname "$0")/../.."
cmake --preset fuzz >/dev/null
ninja -C build/fuzz "${1}_fuzz" >/dev/null
exec tests/fuzz/run.sh "$PWD/build/fuzz" "${OMEN_FUZZ_SECONDS:-60}" "$1"
