#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs an emitted job array on a Slurm of one node, which lives as long as this test: array.sh OMEN.
set -euo pipefail
omen=$1

skip() {
  echo "skipped: $1"
  exit 77
}
[ "$(id -u)" -eq 0 ] || skip "only root can start Slurm's daemons"
for program in munged slurmctld slurmd sbatch shellcheck; do
  command -v $program >/dev/null || skip "$program is not installed"
done

# Short, because it holds the path of a socket.
work=$(mktemp -d /tmp/omen-slurm-XXXXXX)
chmod 755 "$work"
host=$(hostname -s)
export SLURM_CONF="$work/slurm.conf"

# shellcheck disable=SC2317 # the trap calls it
stop_slurm() {
  local file
  for file in slurmctld slurmd munged; do
    [ -s "$work/$file.pid" ] && kill "$(cat "$work/$file.pid")" 2>/dev/null
  done
  for _ in $(seq 50); do
    [ -e "$work/slurmctld.pid" ] || [ -e "$work/slurmd.pid" ] || break
    sleep 0.1
  done
  rm -rf "$work"
}
trap stop_slurm EXIT

# Two neighbours on which nobody listens.
free_port() {
  local port
  for _ in $(seq 50); do
    port=$((20000 + RANDOM % 20000))
    { : <"/dev/tcp/127.0.0.1/$port"; } 2>/dev/null && continue
    { : <"/dev/tcp/127.0.0.1/$((port + 1))"; } 2>/dev/null && continue
    echo $port
    return
  done
}
port=$(free_port)

mkdir "$work/state" "$work/spool"
head -c 1024 /dev/urandom >"$work/munge.key"
chmod 400 "$work/munge.key"
munged --force --key-file="$work/munge.key" --socket="$work/munge.socket" \
  --pid-file="$work/munged.pid" --log-file="$work/munged.log" --seed-file="$work/munge.seed" ||
  skip "munged does not start here"

cat >"$SLURM_CONF" <<TEXT
ClusterName=omen
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
CredType=cred/munge
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
SlurmctldPort=$port
SlurmdPort=$((port + 1))
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerParameters=sched_interval=1,batch_sched_delay=1,bf_interval=1
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP
TEXT
slurmctld -f "$SLURM_CONF" -c || skip "slurmctld does not start here"
slurmd -f "$SLURM_CONF" -N "$host" || skip "slurmd does not start here"
for _ in $(seq 100); do
  sinfo -h -o %t 2>/dev/null | grep -q idle && break
  sleep 0.1
done
sinfo -h -o %t | grep -q idle || { cat "$work"/*.log; skip "the node does not come up here"; }

mkdir "$work/place with space"
cd "$work/place with space"
export XDG_CACHE_HOME="$work/cache"
awk 'BEGIN {
  print "g,x,cost"
  for (i = 0; i < 80; i++) printf "g%d,%d,%.3f\n", i % 8, (i * 37) % 101, 5 + (i * 37) % 101 + i * 7919 % 23
}' >rows.csv
"$omen" -q data import rows.csv --target cost:ms:lower --group g -o rows
"$omen" -q task new -o task.json --data rows --folds 2
"$omen" compare baseline.ridge baseline.knn --task task.json --csv --runs-dir one >one.csv

"$omen" compare baseline.ridge baseline.knn --task task.json --csv --emit slurm --shares 3 -o array.sh
shellcheck array.sh
sh array.sh --job-name=tested
run=$(echo runs/slurm-*)
for _ in $(seq 600); do
  [ -z "$(squeue -h)" ] && break
  sleep 0.2
done
tail -n +1 "$run"/share-*.txt

failed=0
cmp one.csv "$run/report.txt" || failed=1
cmp one/*/losses.csv "$run/losses.csv" || failed=1
# Every job was done by a share: the report found all of them.
[ "$(grep -c 'kept from an earlier run' "$run/log.txt")" -eq "$(find "$run/jobs" -name '*.omt' | wc -l)" ] ||
  { echo "FAILED: the report did jobs itself"; cat "$run/log.txt"; failed=1; }
[ "$(find "$run/jobs" -name '*.omt' | wc -l)" -ge 8 ] || { echo "FAILED: too few jobs"; failed=1; }
[ ! -e "$run/unfinished" ] || { echo "FAILED: the run is not finished"; failed=1; }
exit $failed
