# SPDX-License-Identifier: Apache-2.0
# Shared by run.sh and test.sh: messages, the per-user cache and Debian packages.
# Everything here talks on stderr, because stdout belongs to omen's results.

say() { printf '%s\n' "$*" >&2; }

die() {
  say "error: $1"
  [ $# -lt 2 ] || say "  hint: $2"
  exit 1
}

omen_cache_dir() { printf '%s/omen\n' "${XDG_CACHE_HOME:-$HOME/.cache}"; }

# Shared data beside the clone is used where it exists; OMEN_DATA names any other place.
export_data_dir() {
  if [ -z "${OMEN_DATA:-}" ] && [ -d "$OMEN_ROOT/../shared/data" ]; then
    OMEN_DATA=$(cd "$OMEN_ROOT/../shared/data" && pwd)
  fi
  [ -z "${OMEN_DATA:-}" ] || export OMEN_DATA
}

package_installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# install_packages GROUP...: installs what is missing from packages.txt, saying what and why.
install_packages() {
  local list="$OMEN_ROOT/tools/setup/packages.txt" missing=() group package why
  command -v dpkg-query >/dev/null || die "this is not a Debian system" \
    "install the packages named in tools/setup/packages.txt by hand and build with cmake --preset release"
  while read -r group package why; do
    case " $* " in *" $group "*) ;; *) continue ;; esac
    package_installed "$package" && continue
    [ ${#missing[@]} -gt 0 ] || say "missing packages:"
    say "$(printf '  %-22s %s' "$package" "$why")"
    missing+=("$package")
  done < <(grep -v '^#' "$list")
  [ ${#missing[@]} -gt 0 ] || return 0

  # Another installation may hold the lock for a while.
  local line="apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends ${missing[*]}"
  if [ "$(id -u)" -ne 0 ]; then
    say "not running as root; install them with:"
    say "  sudo $line"
    exit 1
  fi
  say "+ $line"
  export DEBIAN_FRONTEND=noninteractive
  # Package lists may be absent or stale on a fresh machine, so a failure is retried after update.
  $line >&2 2>/dev/null || { apt-get update >&2 && $line >&2; } ||
    die "apt could not install the packages" "check the network and /etc/apt/sources.list"
}
