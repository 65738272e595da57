#!/usr/bin/env bash
# A Slurm of four nodes with two null-device GPUs each, on this machine alone, as root. The last two
# (partition `frail`) are there to be lost; a job of partition `urgent` preempts those that run there.
#   tests/slurm/cluster.sh start [accounting] | stop | restart | down NODE | up NODE
# State lies in $POOLBIAS_CLUSTER (/tmp/poolbias-cluster). Slurm's tools read /etc/slurm: files there
# that this script did not write are left alone, and it then refuses to start.
set -euo pipefail

D=${POOLBIAS_CLUSTER:-/tmp/poolbias-cluster}
HOST=$(hostname -s)
MARK="# written by tests/slurm/cluster.sh"
FILES="slurm.conf gres.conf slurmdbd.conf"

start() {
  stop
  rm -rf "$D"
  check_configuration
  mkdir -p /etc/slurm "$D"/{state,spool,log,run,munge,dev}
  # A count alone makes the nodes invalid: a GPU must be a character device.
  mknod "$D/dev/gpu0" c 1 3
  mknod "$D/dev/gpu1" c 1 3
  start_munge
  if [ "${1:-}" = accounting ]; then
    configure accounting_storage/slurmdbd
    start_accounting
  else
    configure accounting_storage/none
  fi
  slurmctld
  for node in n1 n2 n3 n4; do slurmd -N $node; done
  await "four idle nodes" nodes_idle
}

stop() {
  end "$D"/run/*.pid
  for file in $FILES; do
    if is_ours "$file"; then rm "/etc/slurm/$file"; fi
  done
}

restart() {
  end "$D/run/slurmctld.pid"
  slurmctld
  await "slurmctld" scontrol ping
}

down() { # as if the machine had lost its power: the daemon first, then its jobs' processes
  local job file
  kill -9 "$(cat "$D/run/slurmd.$1.pid")"
  rm "$D/run/slurmd.$1.pid"
  for job in $(squeue --noheader --nodelist="$1" --states=running --format=%i); do
    for file in /proc/[0-9]*; do
      if tr '\0' ' ' <"$file/cmdline" 2>/dev/null | grep -qs "^slurmstepd: \[$job\." ||
        grep -qsz "^SLURM_JOB_ID=$job\$" "$file/environ"; then
        kill -9 "${file#/proc/}" 2>/dev/null || true
      fi
    done
  done
  scontrol update nodename="$1" state=down reason="the test says so" # else after SlurmdTimeout
}

up() {
  slurmd -N "$1"
  scontrol update nodename="$1" state=resume 2>/dev/null || true
  await "four nodes" nodes_up
}

is_ours() { [ -e "/etc/slurm/$1" ] && head -1 "/etc/slurm/$1" | grep -qxF "$MARK"; }

check_configuration() {
  for file in $FILES; do
    if [ -e "/etc/slurm/$file" ]; then
      echo "/etc/slurm/$file: is another cluster's, need none; run these tests on a machine" \
        "without Slurm." >&2
      exit 1
    fi
  done
}

configure() { # where accounts are kept
  cat >/etc/slurm/slurm.conf <<END
$MARK
ClusterName=fake
SlurmctldHost=$HOST(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
# Short-lived credentials: a requeued job then starts after 6 to 15 s, not after 120 s.
AuthInfo=socket=$D/run/munge.sock,cred_expire=5
CredType=cred/munge
StateSaveLocation=$D/state
SlurmdSpoolDir=$D/spool/%n
SlurmctldPidFile=$D/run/slurmctld.pid
SlurmdPidFile=$D/run/slurmd.%n.pid
SlurmctldLogFile=$D/log/slurmctld.log
SlurmdLogFile=$D/log/slurmd.%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=$1
AccountingStorageHost=127.0.0.1
AccountingStoragePort=16819
AccountingStoragePass=$D/run/munge.sock
JobCompType=jobcomp/filetxt
JobCompLoc=$D/log/jobcomp.log
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
SchedulerParameters=sched_interval=2,bf_interval=2,batch_sched_delay=0
MinJobAge=3600
KillWait=5
OverTimeLimit=0
ReturnToService=2
SlurmdParameters=config_overrides
SlurmdTimeout=15
MessageTimeout=20
JobRequeue=1
MpiDefault=none
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
NodeName=n[1-4] Port=[16901-16904] NodeHostname=$HOST NodeAddr=127.0.0.1 CPUs=8 RealMemory=48000 Gres=gpu:2
PartitionName=DEFAULT MaxTime=1-00:00:00 LLN=YES
PartitionName=low Nodes=n[1-2] Default=YES
PartitionName=frail Nodes=n[3-4] PriorityTier=1 PreemptMode=REQUEUE
PartitionName=urgent Nodes=n[3-4] PriorityTier=10 PreemptMode=OFF
END
  printf '%s\n%s\n' "$MARK" "NodeName=n[1-4] Name=gpu File=$D/dev/gpu[0-1]" >/etc/slurm/gres.conf
}

start_munge() {
  chmod 700 "$D/munge"
  head -c 1024 /dev/urandom >"$D/munge/key"
  chmod 400 "$D/munge/key"
  munged --key-file="$D/munge/key" --socket="$D/run/munge.sock" --pid-file="$D/run/munged.pid" \
    --log-file="$D/log/munged.log" --seed-file="$D/munge/seed" --force 2>/dev/null
}

start_accounting() {
  cat >/etc/slurm/slurmdbd.conf <<END
$MARK
AuthType=auth/munge
AuthInfo=socket=$D/run/munge.sock
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=16819
SlurmUser=root
PidFile=$D/run/slurmdbd.pid
LogFile=$D/log/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
StorageLoc=slurm
END
  chmod 600 /etc/slurm/slurmdbd.conf
  mkdir -p /run/mysqld
  local socket=/run/mysqld/mysqld.sock # where slurmdbd looks
  mariadb-install-db --no-defaults --user=root --datadir="$D/database" \
    --auth-root-authentication-method=normal --skip-test-db >"$D/log/database-install.log" 2>&1
  mariadbd --no-defaults --user=root --datadir="$D/database" --skip-networking --socket=$socket \
    --pid-file="$D/run/database.pid" --innodb-buffer-pool-size=64M >"$D/log/database.log" 2>&1 &
  await "database" mariadb-admin --no-defaults --socket=$socket ping
  slurmdbd
  await "slurmdbd" sacctmgr --noheader --immediate list cluster
  sacctmgr --immediate --quiet add cluster fake >/dev/null
}

nodes_idle() { [ "$(sinfo --noheader --Node --format=%T | sort -u)" = idle ]; }

nodes_up() { ! sinfo --noheader --Node --format=%T | grep -qv 'idle\|mixed\|alloc'; }

await() { # what, command: until it succeeds, at most 30 s
  local what=$1
  shift
  for _ in $(seq 150); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.2
  done
  echo "$what: not there after 30 s, see $D/log" >&2
  exit 1
}

end() { # files of process ids; a daemon that ended may stay a zombie
  local file
  for file in "$@"; do
    if [ -e "$file" ]; then kill "$(cat "$file")" 2>/dev/null || true; fi
  done
  for file in "$@"; do
    [ -e "$file" ] || continue
    for _ in $(seq 100); do
      grep -qs '^State:[[:space:]]*[^Z]' "/proc/$(cat "$file" 2>/dev/null)/status" || break
      sleep 0.1
    done
    kill -9 "$(cat "$file" 2>/dev/null)" 2>/dev/null || true
    rm -f "$file"
  done
}

case ${1:-} in
  start | stop | restart | down | up) "$@" ;;
  *)
    sed -n '2,6s/^# *//p' "$0"
    exit 2
    ;;
esac
