#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fails where one library needs a symbol that the simulator defines.
#   knows_no_simulator.sh LEARNED SIMULATOR NETWORKS; the third shows that the comparison can fail.
set -eu
needed() { nm --undefined-only "$1" | awk 'NF == 2 {print $2}' | sort -u; }
defined() { nm --defined-only "$1" | awk '$2 == "T" {print $3}' | sort -u; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
needed "$1" > "$place/needed"
defined "$2" > "$place/simulator"
defined "$3" > "$place/networks"
if [ -z "$(comm -12 "$place/needed" "$place/networks")" ]; then
  echo "not even the networks are needed: the comparison finds nothing" >&2
  exit 1
fi
found=$(comm -12 "$place/needed" "$place/simulator")
if [ -n "$found" ]; then
  echo "the learned predictors need symbols of the simulator: $found" >&2
  exit 1
fi
