#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Comparisons over ranks against the same one in a single process: compare.sh OMEN test|show.
# With OMEN_SHOW_BREAK set the figure is taken without --enable-recovery, so that the run ends with
# the rank that is killed.
set -eu
omen=$1
mode=$2
agent=$(cd "$(dirname "$0")" && pwd)/other_host.sh

# Only here: tests run as root in containers, on fewer cores than ranks. Open MPI keeps what it
# allocates until the end of the process.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
command -v mpirun >/dev/null || { echo "skipped: mpirun is not installed"; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export XDG_CACHE_HOME="$work/cache"
failed=0

awk 'BEGIN {
  print "g,x,y,cost"
  for (i = 0; i < 160; i++) {
    x = (i * 37) % 101; y = (i * 17) % 13
    printf "g%d,%d,%d,%.3f\n", i % 16, x, y, 5 + 0.7 * x + y * y + (i * 7919 % 23)
  }
}' >rows.csv
"$omen" -q data import rows.csv --target cost:ms:lower --group g -o rows
"$omen" -q task new -o task.json --data rows --folds 4

ranks() { # ranks N MPI_OPTION... -- RUN: every loss on stdout; each rank leaves its process id
  n=$1
  shift
  options=""
  while [ "$1" != -- ]; do options="$options $1"; shift; done
  # shellcheck disable=SC2016,SC2086
  timeout 120 mpirun --oversubscribe $options -n "$n" \
    sh -c 'echo $$ >"$0.$OMPI_COMM_WORLD_RANK"; exec "$@"' "$2.rank" "$omen" compare \
    baseline.ridge baseline.knn --task task.json --csv --runs-dir "$2" >"$2.csv" 2>"$2.err" &&
    status=0 || status=$?
}

# kill_rank RANK RUN: as soon as that rank of the run has a worker, thus in the middle of a job.
kill_rank() {
  for _ in $(seq 3000); do
    if [ -s "$2.rank.$1" ]; then
      read -r pid <"$2.rank.$1"
      cat "/proc/$pid/task/"*/children 2>/dev/null | grep -q . && kill -9 "$pid" && return
    fi
    sleep 0.01
  done
  echo "rank $1 of $2 never worked" >>"$2.err"
}

# The digests of all predictions, as the run recorded them.
digests() { grep -h '"digest"' "$1"/*/run.json; }

same() { # same NAME RUN
  if cmp -s one.csv "$2.csv" && cmp -s one/*/losses.csv "$2"/*/losses.csv &&
    [ "$(digests one)" = "$(digests "$2")" ]; then
    echo "ok: $1"
    return 0
  fi
  echo "FAILED: $1 (exit $status)"
  cat "$2.err"
  failed=1
  return 1
}

said() { # said RUN PATTERN
  grep -q "$2" "$1.err" && return
  echo "FAILED: $1 does not say '$2'"
  cat "$1.err"
  failed=1
}

"$omen" compare baseline.ridge baseline.knn --task task.json --csv --runs-dir one >one.csv
[ "$(digests one | wc -l)" -ge 16 ] || { echo "FAILED: no digests in run.json"; exit 1; }

if [ "$mode" = show ]; then
  recovery=--enable-recovery
  [ -z "${OMEN_SHOW_BREAK:-}" ] || recovery=
  kill_rank 2 killed &
  # shellcheck disable=SC2086
  ranks 4 $recovery -- killed
  wait
  equal=0
  same "one of four killed" killed && grep -q "rank 2 on .* is lost" killed.err && equal=1
  echo "SHOW kill_mpi_rank_numbers_equal $equal yes goal == 1"
  [ $equal -eq 1 ]
  exit
fi

ranks 2 --enable-recovery -- two
same "two ranks" two || true
ranks 4 --enable-recovery -- four
same "four ranks" four || true

kill_rank 3 killed &
ranks 4 --enable-recovery -- killed
wait
same "one of four killed" killed || true
said killed "rank 3 on .* is lost"

kill_rank 1 alone &
ranks 2 --enable-recovery -- alone
wait
same "the only other rank killed" alone || true

# Results come by messages: the other host does not see the directory of the run.
if "$agent" elsewhere true 2>/dev/null; then
  mkdir hosts
  export OMEN_TEST_HIDDEN="$work/hosts"
  ranks 3 --enable-recovery --mca plm rsh --mca plm_rsh_agent "$agent" \
    --host localhost:1,elsewhere:2 -- hosts
  same "ranks of two hosts without a common directory" hosts || true
else
  echo "left out: ranks of two hosts, as namespaces are not allowed here"
fi

# Without recovery the run ends; the same command goes on in one process.
kill_rank 1 ended &
ranks 3 -- ended
wait
[ "$status" -ne 0 ] || { echo "FAILED: the launcher went on"; failed=1; }
"$omen" -v compare baseline.ridge baseline.knn --task task.json --csv --runs-dir ended \
  >ended.csv 2>ended.err
same "gone on after the end of the launcher" ended || true
said ended "going on with run"

# Rank 0's end is that of the run.
kill_rank 0 headless &
ranks 3 --enable-recovery -- headless
wait
[ "$status" -ne 124 ] || { echo "FAILED: ranks hang without rank 0"; failed=1; }
"$omen" compare baseline.ridge baseline.knn --task task.json --csv --runs-dir headless \
  >headless.csv 2>headless.err
same "gone on after the end of rank 0" headless || true
exit $failed
