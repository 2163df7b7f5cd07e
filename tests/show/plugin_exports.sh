#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Counts the dynamic symbols that each plugin defines and prints the largest count.
#   plugin_exports.sh PLUGIN_DIRECTORY
# With OMEN_SHOW_BREAK=1 a library with a second symbol is among them.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mapfile -t libraries < <(find "$1" -name '*.so')
[ ${#libraries[@]} -gt 0 ] || { echo "error: no plugins in $1"; exit 1; }
if [ -n "${OMEN_SHOW_BREAK:-}" ]; then
  echo 'int omen_plugin_entry(void) { return 0; } int leaked(void) { return 1; }' >"$work/leaky.c"
  cc -shared -fPIC -o "$work/leaky.so" "$work/leaky.c"
  libraries+=("$work/leaky.so")
fi
most=0
for library in "${libraries[@]}"; do
  count=$(nm -D --defined-only "$library" | wc -l)
  echo "$count $(basename "$library")"
  [ "$count" -le "$most" ] || most=$count
done
echo "SHOW plugin_exports_most $most symbols goal == 1"
[ "$most" -eq 1 ]
