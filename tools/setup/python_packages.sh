# SPDX-License-Identifier: Apache-2.0
# Python packages for tests and comparisons, below build/; nothing that is built or run needs them.

python=python3
[ ! -x /usr/bin/python3 ] || python=/usr/bin/python3

# python_packages DIRECTORY REQUIREMENTS: installs the pinned wheels there once, for PYTHONPATH.
# Without them and without PyPI the calling test is skipped (77).
python_packages() {
  local packages=$1 partial
  [ ! -d "$packages" ] || return 0
  if ! "$python" -c 'import socket; socket.create_connection(("pypi.org", 443), 10)' 2>/dev/null; then
    echo "skipped: pypi.org is unreachable and $packages does not exist"
    exit 77
  fi
  mkdir -p "$(dirname "$packages")"
  # The directory appears by one rename, so an interrupted download leaves nothing half-installed.
  partial=$(mktemp -d "$packages.XXXXXX")
  "$python" -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --only-binary=:all: --require-hashes -r "$2" --target "$partial" || {
    rm -rf "$partial"
    return 1
  }
  chmod 755 "$partial"
  mv -T "$partial" "$packages" 2>/dev/null || rm -rf "$partial"
}
