#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a newcomer does: omen new, build, verify, then the unit test, train, predict. Prints how long it took until the plugin was
# verified, and until it predicted.
#   newcomer.sh OMEN TRAINING_TABLE EXAMPLE_TABLE
# With OMEN_SHOW_BREAK=1 the generated source is damaged, so that the goal is never reached.
set -euo pipefail
omen=$1 training=$2 example=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH="$(dirname "$omen"):$PATH" CCACHE_DISABLE=1
cd "$work"

cat >steps.sh <<'STEPS'
set -e
omen new mine --kind predictor
[ -z "${OMEN_SHOW_BREAK:-}" ] || echo "not C++" >>"$(find mine -name '*.cpp' | head -n 1)"
cmake -S mine -B mine/build -G Ninja
cmake --build mine/build --target mine
omen verify mine/build/plugins/mine/plugin.json
date +%s.%N >verified.txt
cmake --build mine/build
ctest --test-dir mine/build --output-on-failure --no-tests=error -R MineTest
export OMEN_PLUGIN_PATH=$PWD/mine/build/plugins
omen train mine.constant --data "$1" --target time_ms:ms:lower -o model.omen
omen predict -m model.omen "$2"
STEPS
start=$(date +%s.%N)
status=0
bash steps.sh "$training" "$example" >log.txt 2>&1 || status=$?
# A goal that is never reached takes for ever.
since_start() { awk -v a="$start" -v b="$1" 'BEGIN { printf "%.1f", b - a }'; }
seconds=999999 verified=999999
[ ! -s verified.txt ] || verified=$(since_start "$(cat verified.txt)")
[ $status -ne 0 ] || seconds=$(since_start "$(date +%s.%N)")
tail -n 40 log.txt
echo "SHOW newcomer_verified_seconds $verified s goal < 30"
echo "SHOW newcomer_seconds $seconds s goal < 120"
exit $status
