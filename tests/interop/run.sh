#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Exchanges container files with the stock Python safetensors package.
#   run.sh CONTAINER_EXCHANGE PACKAGES_DIRECTORY
# The packages are installed there once. Without them and without PyPI the test is skipped (77).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
exchange=$1 packages=$2/safetensors
python=python3
[ ! -x /usr/bin/python3 ] || python=/usr/bin/python3

# The directory appears by one rename, so an interrupted download leaves nothing half-installed.
if [ ! -d "$packages" ]; then
  if ! "$python" -c 'import socket; socket.create_connection(("pypi.org", 443), 10)' 2>/dev/null; then
    echo "skipped: pypi.org is unreachable and $packages does not exist"
    exit 77
  fi
  mkdir -p "$(dirname "$packages")"
  partial=$(mktemp -d "$packages.XXXXXX")
  trap 'rm -rf "$partial"' EXIT
  "$python" -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --only-binary=:all: --require-hashes -r "$here/requirements.txt" --target "$partial"
  chmod 755 "$partial"
  mv -T "$partial" "$packages" 2>/dev/null || [ -d "$packages" ]
fi

work=$(mktemp -d)
trap 'rm -rf "$work" "${partial:-}"' EXIT
"$exchange" write "$work/ours.omen"
PYTHONPATH=$packages "$python" "$here/exchange.py" "$work/ours.omen" "$work/theirs.safetensors"
"$exchange" check "$work/theirs.safetensors"
