# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# A Slurm of one node that lives as long as the test that sources this.

skip() {
  echo "skipped: $1"
  exit 77
}

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

# write_configuration CPUS: the node claims so many, whatever the machine has.
write_configuration() {
  local port
  port=$(free_port)
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
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerParameters=sched_interval=1,batch_sched_delay=1,bf_interval=1
NodeName=$host NodeAddr=127.0.0.1 CPUs=$1 State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP
TEXT
}

# start_slurm CPUS PROGRAM...: sets $work, a directory that goes with the daemons. Without root, one of
# the programs or a node that comes up, the test is skipped (77).
start_slurm() {
  local program cpus=$1
  shift
  [ "$(id -u)" -eq 0 ] || skip "only root can start Slurm's daemons"
  for program in munged slurmctld slurmd sbatch "$@"; do
    command -v "$program" >/dev/null || skip "$program is not installed"
  done
  # Short, because it holds the path of a socket.
  work=$(mktemp -d /tmp/omen-slurm-XXXXXX)
  chmod 755 "$work"
  host=$(hostname -s)
  export SLURM_CONF="$work/slurm.conf"
  trap stop_slurm EXIT
  mkdir "$work/state" "$work/spool"
  head -c 1024 /dev/urandom >"$work/munge.key"
  chmod 400 "$work/munge.key"
  munged --force --key-file="$work/munge.key" --socket="$work/munge.socket" \
    --pid-file="$work/munged.pid" --log-file="$work/munged.log" --seed-file="$work/munge.seed" ||
    skip "munged does not start here"
  write_configuration "$cpus"
  slurmctld -f "$SLURM_CONF" -c || skip "slurmctld does not start here"
  slurmd -f "$SLURM_CONF" -N "$host" || skip "slurmd does not start here"
  for _ in $(seq 100); do
    sinfo -h -o %t 2>/dev/null | grep -q idle && break
    sleep 0.1
  done
  sinfo -h -o %t | grep -q idle || {
    cat "$work"/*.log
    skip "the node does not come up here"
  }
}

# Waits for the last job, two minutes at most.
await_jobs() {
  for _ in $(seq 600); do
    [ -n "$(squeue -h)" ] || break
    sleep 0.2
  done
}
