#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Stands in for ssh: other_host.sh HOST COMMAND... runs it under another host name, among other
# process ids and without the directory OMEN_TEST_HIDDEN of this one.
host=$1
shift
# shellcheck disable=SC2016
exec unshare --uts --pid --fork --mount --mount-proc sh -c '
  hostname "$0"
  [ -z "${OMEN_TEST_HIDDEN:-}" ] || mount -t tmpfs none "$OMEN_TEST_HIDDEN"
  exec sh -c "$*"' "$host" "$@"
