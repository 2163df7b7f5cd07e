#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sets up what is missing, builds, and runs tests; see --help.
set -euo pipefail
OMEN_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$OMEN_ROOT/tools/setup/common.sh"
. "$OMEN_ROOT/tools/setup/wheels.sh"
. "$OMEN_ROOT/tools/setup/build.sh"
. "$OMEN_ROOT/tools/setup/suite.sh"

usage() {
  cat <<'TEXT'
usage: ./test.sh                        Release build and test suite
       ./test.sh --show [NAME] [--slow] acceptance figures (NAME: kernel or a track), with a table
       ./test.sh --ci                   what CI runs: suite, sanitizers, fuzzers, consumption tests
       ./test.sh --all                  --ci and every slow check
Set-up is the same as in ./run.sh. OMEN_SHOW_BREAK=1 ./test.sh --show breaks every figure on purpose.
TEXT
}

mode=suite name="" slow=0
while [ $# -gt 0 ]; do
  case $1 in
    --help | -h) usage; exit 0 ;;
    --show) mode=show
      case ${2:-} in "" | --*) ;; *) name=$2; shift ;; esac ;;
    --slow) slow=1 ;;
    --ci | --all) mode=${1#--} ;;
    --stage) mode=stage name=$2; shift ;;
    *) usage >&2; die "unknown argument '$1'" ;;
  esac
  shift
done

case $mode in suite | show) groups="build test" ;; *) groups="build test ci" ;; esac
[ $slow -eq 0 ] || groups="build test ci"
# shellcheck disable=SC2086
install_packages $groups
setup_torch
setup_extras
export_data_dir

case $mode in
  stage) "stage_$name" ;;
  suite)
    run_stages suite
    ;;
  show)
    configure release -DOMEN_BUILD_TESTS=ON -DOMEN_UNIT_TESTS=ON
    # shellcheck disable=SC2046
    build release all $([ $slow -eq 0 ] || echo omen_slow_programs)
    run_show "$name" "$slow"
    ;;
  ci)
    run_stages format asan release tsan fuzz
    ;;
  all)
    export OMEN_TIDY=all OMEN_SANITIZE_CASES=all
    run_stages format tidy asan release tsan fuzz slow
    ;;
esac
