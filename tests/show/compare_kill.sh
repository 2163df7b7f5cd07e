#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Kills a comparison in the middle and compares what it comes to with an undisturbed one.
#   compare_kill.sh OMEN FIXTURES parent|worker
# parent: kill -9 of omen itself; the same command goes on and keeps what was finished.
# worker: kill -9 of a worker while it fits; its fold is done again.
# With OMEN_SHOW_BREAK=1 the finished folds are lost, or no worker is killed, and the undisturbed run
# has another seed.
set -u
omen=$1 victim=$3
export OMEN_PLUGIN_PATH=$2
broken=${OMEN_SHOW_BREAK:-0}
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export XDG_CACHE_HOME=$PWD/cache  # the crash that is made here is nobody's

awk 'BEGIN { print "name,group,x,cost"
  for (i = 0; i < 80; i++)
    printf "w%d,g%d,%g,%.6f\n", i, i % 8, 1 + i / 4, 3 * (1 + i / 4) * (1 + 0.1 * sin(i * i)) }' > t.csv
"$omen" data import t.csv -q -o small --target cost:ms:lower || exit 1
"$omen" task new -q --data small --split k-fold --folds 4 -o t.json || exit 1
compare=("$omen" compare -q contender.slow@pause=0.5,noise=0.2 contender.slow@pause=0.5,bias=0.1
  --task t.json -j 2)

seed=1
[ "$broken" = 1 ] && seed=2
"${compare[@]}" --seed $seed --runs-dir whole > /dev/null || exit 1

finished() { ls cut/*/jobs/*.omt 2> /dev/null | wc -l; }
# Waits until $1 folds are there, half a minute at most.
wait_for() {
  for _ in $(seq 600); do
    [ "$(finished)" -ge "$1" ] && return
    sleep 0.05
  done
}
"${compare[@]}" --runs-dir cut > /dev/null 2> cut.log &
parent=$!
wait_for 3
kills=0
if [ "$victim" = parent ]; then
  kill -9 $parent && kills=1
  wait $parent 2> /dev/null
  [ "$broken" = 1 ] && rm -rf cut/*/jobs
  "${compare[@]}" --runs-dir cut > /dev/null 2>> cut.log || exit 1
  kept=$(grep -c 'kept from an earlier run: digest verified, not run again' cut/*/log.txt)
  echo "SHOW kill_parent_folds_kept $kept folds goal >= 3"
  [ "$kept" -ge 3 ] || failed=1
else
  [ "$broken" = 1 ] && kills=1
  # A worker that is killed after its answers costs nothing, so others follow until one was missed.
  while [ $kills = 0 ] && kill -0 $parent 2> /dev/null; do
    worker=$(pgrep -n -P $parent) && kill -9 "$worker" 2> /dev/null
    for _ in $(seq 20); do
      grep -qs 'trying once more' cut/*/log.txt && kills=1 && break
      sleep 0.05
    done
  done
  wait $parent
  again=$(grep -c 'trying once more' cut/*/log.txt)
  echo "SHOW kill_worker_folds_repeated $again folds goal >= 1"
  [ "$again" -ge 1 ] || failed=1
fi
[ $kills = 1 ] || { echo "nothing was killed"; exit 1; }
[ "$(ls cut | wc -l)" = 1 ] || { echo "the command did not go on with its run"; exit 1; }
rows=$(wc -l < whole/*/losses.csv)
differ=$(diff whole/*/losses.csv cut/*/losses.csv | grep -c '^[<>]')
echo "SHOW kill_${victim}_losses_compared $rows rows goal >= 400"
echo "SHOW kill_${victim}_losses_that_differ $differ rows goal == 0"
[ "$differ" = 0 ] && [ "$rows" -ge 400 ] || failed=1
exit "${failed:-0}"
