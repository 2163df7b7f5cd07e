#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds a sanitizer preset, runs its tests and prints how many failed.
#   sanitizer.sh SOURCE_DIRECTORY asan|tsan
# With OMEN_SHOW_BREAK=1 a program with a known mistake is run as one more test.
set -euo pipefail
cd "$1"
preset=$2
if [ -n "${OMEN_SHOW_BREAK:-}" ]; then
  mistake=heap
  [ "$preset" = asan ] || mistake=race
  cmake --preset "$preset" >/dev/null
  ninja -C "build/$preset" sanitizer_canary >/dev/null
  failed=0
  TSAN_OPTIONS=halt_on_error=1 "build/$preset/bin/sanitizer_canary" $mistake >/dev/null 2>&1 || failed=1
else
  OMEN_TOTALS=$(mktemp)
  export OMEN_TOTALS
  status=0
  ./test.sh --stage "$preset" || status=$?
  failed=$(awk '{ f += $2 } END { print f + 0 }' "$OMEN_TOTALS")
  rm -f "$OMEN_TOTALS"
  # A build that fails has no failed tests, which is no success.
  [ $status -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
fi
echo "SHOW ${preset}_failed_tests $failed tests goal == 0"
[ "$failed" -eq 0 ]
