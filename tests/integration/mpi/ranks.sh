#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Ranks that live, die, stand still and disagree, with jobs that need no plugin: ranks.sh PROBE.
set -eu
probe=$1
jobs=24

# Only here: tests run as root in containers, on fewer cores than ranks. Open MPI keeps what it
# allocates until the end of the process.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
command -v mpirun >/dev/null || { echo "skipped: mpirun is not installed"; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
expected=$("$probe" $jobs)
failed=0

ranks() { # ranks N MPI_OPTION... -- PROBE_ARGUMENT...
  n=$1
  shift
  options=""
  while [ "$1" != -- ]; do options="$options $1"; shift; done
  shift
  [ $# -eq 0 ] || set -- "$@" "$work/fate"
  rm -f "$work/fate"
  # shellcheck disable=SC2086
  timeout 60 mpirun --enable-recovery --oversubscribe $options -n "$n" "$probe" $jobs "$@" \
    >"$work/out" 2>"$work/err" && status=0 || status=$?
}

check() { # check NAME: the results are those of one process
  if [ "$status" -eq 0 ] && [ "$(cat "$work/out")" = "$expected" ]; then
    echo "ok: $1"
  else
    echo "FAILED: $1 (exit $status)"
    cat "$work/out" "$work/err"
    failed=1
  fi
}

nothing() { # nothing NAME: ends by itself, without results
  [ "$status" -ne 124 ] && [ ! -s "$work/out" ] && echo "ok: $1" && return
  echo "FAILED: $1 (exit $status)"
  cat "$work/out" "$work/err"
  failed=1
}

said() { # said NAME PATTERN
  grep -q "$2" "$work/err" && return
  echo "FAILED: $1 does not say '$2'"
  cat "$work/err"
  failed=1
}

ranks 2 --
check "two ranks"
ranks 4 --
check "four ranks"
ranks 4 -- 2 kill
check "one of four killed"
said "a killed rank" "rank 2 on .* is lost; done again: job"
ranks 2 -- 1 kill
check "the only other rank killed"
ranks 4 -- 3 send
check "killed while its result was on its way"
ranks 3 --mca btl self,tcp --
check "three ranks over TCP"
ranks 3 --mca btl self,tcp -- 1 kill
check "one of three killed over TCP"
ranks 3 --mca btl self,tcp -- 2 send
check "killed while its result was on its way over TCP"
OMEN_RANK_TIMEOUT=2 ranks 3 -- 2 stop
check "one that stands still"
said "a silent rank" "rank 2 on .* is lost"

# Two hosts, where namespaces allow to play them: results come by messages alone, deaths show by
# silence, and the launcher, which would wait for ever, is told to end.
agent=$(dirname "$0")/other_host.sh
if "$agent" elsewhere true 2>/dev/null; then
  export OMEN_RANK_TIMEOUT=3
  hosts="--mca plm rsh --mca plm_rsh_agent $agent --host localhost:1,elsewhere:2"
  hosts="$hosts -x OMEN_RANK_TIMEOUT"
  # shellcheck disable=SC2086
  ranks 3 $hosts --
  check "ranks of two hosts"
  # shellcheck disable=SC2086
  ranks 3 $hosts -- 2 kill
  [ "$status" -eq 124 ] || status=0
  check "one killed on another host"
  said "a rank elsewhere" "rank 2 on elsewhere is lost"
else
  echo "left out: ranks of two hosts, as namespaces are not allowed here"
fi

ranks 3 -- 2 other-plan
nothing "one with another plan"
said "another plan" "rank 2 on .* would compute something else: it has jobs: other, rank 0 has jobs"
ranks 3 -- 0 kill
nothing "rank 0 killed"
exit $failed
