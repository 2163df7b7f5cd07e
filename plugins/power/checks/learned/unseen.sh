#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the shipped power.seq says of networks that it has not seen.
#   unseen.sh OMEN POWER_ANSWERS errors|widths; errors also prints those of a family not seen.
set -eu
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
ask() {  # DATA OTHER QUESTION: rows of one part of the corpus, none of the other
  "$omen" data make "$1" --with power.corpus -o "$place/$1" --quiet --train_rows 0 "--$2_rows" 0
  "$omen" predict --data "$place/$1" --with power.sim -o "$place/true.csv" --quiet
  "$omen" predict --data "$place/$1" --with power.seq -o "$place/said.csv" --quiet
  "$answers" "$3" "$place/true.csv" "$place/said.csv"
}
omen=$1 answers=$2
if [ "$3" = widths ]; then
  ask test absent widths
else
  ask absent test absent
  ask test absent unseen
fi
