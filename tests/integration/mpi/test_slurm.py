# SPDX-License-Identifier: BSD-3-Clause
"""MPI programs that Slurm starts, their reductions through the running switch."""

import os
import re
import shlex

import mpi_runs
import private_slurm
import pytest
from mpi_runs import node_at_a_switch  # noqa: F401  pylint: disable=unused-import
from programs import command

pytestmark = [*mpi_runs.marks, private_slurm.needs_slurm]
# What srun has to be told for an MPI library, and what each makes a program of its own.
LAUNCH, APART = {'openmpi': 'pmix', 'mpich': 'pmi2'}, {'mpich': 'pmix'}
# The command ip would show the network namespace's own /sys, without control groups.
WITHIN = 'unshare', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc', 'bash', '-euc'


def run(host, folder, commands):
    """Runs commands of a shell beside Slurm. Returns what they printed."""
    script = f'exec 2>&1\n{private_slurm.started()}{commands}'
    return command('nsenter', f'--net=/run/netns/{host.name}', *WITHIN, script, cwd=folder,
                   env={**os.environ, **mpi_runs.CALM}, patience=mpi_runs.TIMEOUT_S)


def srun(kind, launch, *checks, ranks=4):
    """The words that start the program of checks."""
    exported = {'LD_PRELOAD': mpi_runs.LIBRARIES / f'libnetfc-mpi-{kind}.so', 'NETFC_SWITCH': mpi_runs.hosts.SWITCH_IP,
                'NETFC_MPI_VERBOSE': 1, 'NETFC_MPI_JOIN_TIMEOUT': 300}
    export = ','.join(['ALL', *(f'{name}={value}' for name, value in exported.items())])
    return shlex.join(map(str, ['srun', '-n', ranks, f'--mpi={launch}', f'--export={export}',
                                mpi_runs.checks(kind), *checks]))


@pytest.mark.parametrize('kind', mpi_runs.KINDS)
def test_tasks_are_ranks_and_a_node_is_a_worker(node, tmp_path, kind):
    said = run(node, tmp_path, srun(kind, LAUNCH[kind], 'allreduce', 'communicators'))
    assert 'of 4 ranks has job' in said and 'workers: 1, switches: 1' in said, said
    assert 'check communicators: done' in said and ' of its own' not in said, said


@pytest.mark.parametrize('kind', [kind for kind in APART if kind in mpi_runs.KINDS])
def test_tasks_that_are_programs_of_their_own_are_told_once(node, tmp_path, kind):
    said = run(node, tmp_path, srun(kind, APART[kind], 'allreduce') + ' || :')
    assert said.count("each of Slurm's 4 tasks is an MPI program of its own") == 1, said


@pytest.mark.parametrize('kind', mpi_runs.KINDS)
def test_a_program_of_one_rank_is_nothing_to_tell(node, tmp_path, kind):
    said = run(node, tmp_path, f'{srun(kind, LAUNCH[kind], "allreduce", ranks=1)} || :')
    assert ' of its own' not in said, said


@pytest.mark.parametrize('kind', mpi_runs.KINDS)
def test_a_library_for_another_mpi_is_told_once(node, tmp_path, kind):
    other = {'openmpi': 'mpich', 'mpich': 'openmpi'}[kind]
    words = srun(kind, LAUNCH[kind], 'allreduce').replace(f'libnetfc-mpi-{kind}', f'libnetfc-mpi-{other}')
    said = run(node, tmp_path, f'{words} || :')
    assert said.count('which the program does not use') == 1, said


@pytest.mark.parametrize('kind', mpi_runs.KINDS)
def test_a_job_that_is_cancelled_leaves_room(node, tmp_path, kind):
    """Its ranks end, and the next one has right results."""
    batch = tmp_path / 'endless.sh'
    batch.write_text(f'#!/bin/sh\n#SBATCH --ntasks=4\nwhile :; do {srun(kind, LAUNCH[kind], "allreduce")}; done\n')
    said = run(node, tmp_path, f"""
job=$(sbatch --parsable --output=endless.out {batch})
until grep -q 'check allreduce: done' endless.out; do squeue --noheader --job=$job | grep .; sleep 0.1; done
scancel $job
while squeue --noheader --job=$job | grep .; do sleep 0.1; done
ps -eo comm | grep -c mpi-checks || :
{srun(kind, LAUNCH[kind], 'allreduce')}""")
    assert re.search(r'^0$', said, re.M) and 'check allreduce: done' in said, said
