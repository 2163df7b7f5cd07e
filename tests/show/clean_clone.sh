#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Clones the repository and runs run.sh and test.sh in the clone, with nothing else done before.
#   clean_clone.sh SOURCE_DIRECTORY
# With OMEN_SHOW_BREAK=1 the clone lacks a source file.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone -q "$1" "$work/omen"
cd "$work/omen"
[ -z "${OMEN_SHOW_BREAK:-}" ] || rm host/src/cli/main.cpp

failed=0
for command in ./run.sh ./test.sh; do
  [ -z "${OMEN_SHOW_BREAK:-}" ] || [ "$command" = ./run.sh ] || continue
  # The clone's own figures would repeat this check, so they are broken for nobody.
  env -u OMEN_SHOW_BREAK "$command" >"$work/log" 2>&1 || {
    failed=$((failed + 1))
    tail -n 40 "$work/log"
  }
  echo "$command: $(tail -n 1 "$work/log")"
done
echo "SHOW clean_clone_failed_commands $failed commands goal == 0"
[ "$failed" -eq 0 ]
