#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Exchanges container files with the stock Python safetensors package.
#   run.sh CONTAINER_EXCHANGE PACKAGES_DIRECTORY
# The packages are installed there once. Without them and without PyPI the test is skipped (77).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
exchange=$1 packages=$2/safetensors
. "$here/../../tools/setup/python_packages.sh"
python_packages "$packages" "$here/requirements.txt"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$exchange" write "$work/ours.omen"
PYTHONPATH=$packages "$python" "$here/exchange.py" "$work/ours.omen" "$work/theirs.safetensors"
"$exchange" check "$work/theirs.safetensors"
