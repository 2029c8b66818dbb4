# SPDX-License-Identifier: BSD-3-Clause
"""Slurm for the time of a test: one node, daemons in the test's own namespaces, all files in one folder."""

import itertools
import os
import shutil

import switch
from needs import NO_NOBODY, skip_where

DAEMONS = '/usr/sbin/munged', '/usr/sbin/slurmctld', '/usr/sbin/slurmd'
SETTINGS = '''ClusterName=test
SlurmctldHost=$(uname -n)(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={folder}/socket
ProctrackType=proctrack/linuxproc
SlurmdSpoolDir={folder}/spool
TmpFS={folder}/spool
StateSaveLocation={folder}/state
SlurmUser=root
SlurmdUser=root
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmdParameters=config_overrides
TaskPlugin=task/none
SelectType=select/cons_tres
KillWait=1
NodeName=localhost NodeHostname=$(uname -n) NodeAddr=127.0.0.1 CPUs=16 RealMemory=1000 State=UNKNOWN
PartitionName=all Nodes=localhost Default=YES State=UP
'''
# Slurm looks for an address that is not a loopback's before it listens. A daemon that ends is not waited for.
# Numbers of jobs begin with 1, and Open MPI names by them what it puts there.
STARTED = '''mkdir -p {folder}/spool {folder}/state {folder}/tmp
export TMPDIR={folder}/tmp
mount -t tmpfs none /dev/shm
head -c 1024 /dev/urandom >{folder}/key
chmod 600 {folder}/key
cat >{folder}/slurm.conf <<SETTINGS
{settings}SETTINGS
export SLURM_CONF={folder}/slurm.conf
/sbin/ip address replace 192.0.2.1/32 dev lo
/usr/sbin/munged --foreground --force --key-file={folder}/key --socket={folder}/socket --seed-file={folder}/seed \\
  --pid-file={folder}/munged.pid >{folder}/munged.log 2>&1 &
until [ -S {folder}/socket ]; do
  kill -0 $! || {{ cat {folder}/munged.log; exit 1; }}
  sleep 0.1
done
/usr/sbin/slurmctld -D >{folder}/slurmctld.log 2>&1 & slurmctld=$!
/usr/sbin/slurmd -D >{folder}/slurmd.log 2>&1 & slurmd=$!
until timeout 10 sinfo --noheader --states=idle --format=%t 2>&1 | grep -q idle; do
  kill -0 $slurmctld && kill -0 $slurmd || {{ cat {folder}/*.log; exit 1; }}
  sleep 0.1
done
'''


def why_none():
    """Why there is none; empty if there can be."""
    absent = [name for name in DAEMONS if not os.access(name, os.X_OK)]
    if absent or not shutil.which('srun'):
        return 'no Slurm: apt install slurmctld slurmd slurm-client munge'
    if not os.path.ismount('/sys/fs/cgroup'):
        return 'no control groups, which slurmd wants at /sys/fs/cgroup'
    return NO_NOBODY and 'Slurm leaves its groups, which root of user namespaces cannot'


numbers = itertools.count()
needs_slurm = skip_where(why_none())


def started():
    """What a shell runs to have it, in namespaces of its own for mounts and network; the latter's lo is up."""
    # The paths of its sockets may not be much longer.
    folder = switch.RUNTIME / f'slurm-{next(numbers)}'
    return STARTED.format(folder=folder, settings=SETTINGS.format(folder=folder))
