#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the code block of the README that `omen new` writes: template_block.sh OMEN
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
PATH=$(dirname "$1"):$PATH
omen new mine --kind scorer
cd mine
sed -n '/^```sh$/,/^```$/{/^```/!p}' README.md >../block.sh
[ -s ../block.sh ]
bash -euo pipefail ../block.sh
