# SPDX-License-Identifier: BSD-3-Clause
"""MPI programs as they are, their reductions through the running switch."""

import contextlib
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys

import aggregation_workers
import first_joins
import hosts
import mpi_runs
import pytest
import tree_network
import tiers
from mpi_runs import node_at_a_switch  # noqa: F401  pylint: disable=unused-import

pytestmark = mpi_runs.marks
BOTH_WAYS = pytest.mark.parametrize('option', ['--aggregate', mpi_runs.NODES],
                                    ids=['ranks', 'nodes'])
SCARCE = mpi_runs.PROGRAMS / 'libscarce.so'
SOURCES = pathlib.Path(__file__).resolve().parents[2] / 'mpi'


# What a change must pass is tried with the first library that there is; the others when it is whole.
@pytest.fixture(name='kind', params=[*mpi_runs.KINDS[:1], *tiers.later('slow', *mpi_runs.KINDS[1:])])
def mpi_library(request):
    return request.param


def through_switch(err):
    """How many reductions the ranks counted, through the switch and left to MPI."""
    counts = re.findall(r'(\d+) reductions by the switch or the node, (\d+) left to MPI', err)
    assert counts, err
    return [sum(map(int, column)) for column in zip(*counts)]


def checked(host, kind, ranks, *checks, status=0, run=mpi_runs.run, **more):
    """A run of checks on a host to its end. status: what it has to be; None: anything."""
    done = run(host, kind, ranks, mpi_runs.checks(kind), *checks, **more)
    assert status in (None, done.status), done
    return done


def checked_at_switch(folder, option, kind, ranks, *checks, **more):
    """The same on a host at a switch, and what that has aggregated."""
    with mpi_runs.switched(folder, option) as (host, live):
        return checked(host, kind, ranks, *checks, **more), live.stop()['aggregate']


# Ranks, and the checks that one start of them runs. What is about a first reduction comes first.
OF_A_NODE = [(2, 'progress allreduce freed'), (2, 'threads'), (3, 'forks'),
             (3, 'first_started all_types reduce unaligned started two_communicators'),
             (5, 'first_awaited first_beside allreduce doubles scatter counts_reused communicators persistent persistent_attributes persistent_misuse')]
OF_TWO_NODES = [(4, 'allreduce all_types scatter started persistent'), (5, 'reduce doubles communicators')]
RUNS = {'ranks': OF_A_NODE, 'nodes': OF_A_NODE, 'switchless': OF_A_NODE,
        'one_switch': OF_TWO_NODES, 'tree': OF_TWO_NODES}


def of_network(network):
    """One process of xdist runs all that is on a network; one node is for every change."""
    return [pytest.mark.xdist_group(f'mpi-{network}'),
            *([] if network in ('ranks', 'switchless') else [pytest.mark.slow])]


NO_SWITCH = {'NETFC_SWITCH': ''}


@contextlib.contextmanager
def lonely():
    """A host without a switch."""
    with hosts.Host(0) as host:
        host.ip('link', 'set', 'lo', 'up')
        yield host


@pytest.fixture(name='alone', scope='module')
def lonely_host():
    with lonely() as host:
        yield host


def run_checks(folders, kind, network):
    """What has become of each run on a network; the statistics of its switch, or of the root."""
    def run(host, ranks, checks, **environment):
        try:
            return mpi_runs.run(host, kind, ranks, mpi_runs.checks(kind), *checks.split(),
                                patience=len(checks.split()), NETFC_MPI_VERBOSE='1', **environment)
        except AssertionError as hung:
            return hung.args[1]

    folder = folders.mktemp(network)
    if network == 'switchless':
        with lonely() as host:
            return {of: run(host, *of, **NO_SWITCH) for of in OF_A_NODE}, None
    if RUNS[network] is OF_A_NODE:
        option = mpi_runs.NODES if network == 'nodes' else '--aggregate'
        with mpi_runs.switched(folder, option) as (host, live):
            return {of: run(host, *of) for of in OF_A_NODE}, live.stop()['aggregate']
    with two_nodes(folder, **(TREE if network == 'tree' else {})) as (tree, nodes):
        return {of: run(tree.hosts[0], *of, NETFC_TEST_NODES=nodes)
                for of in OF_TWO_NODES}, tree.stop()[0]['aggregate']


@pytest.fixture(name='run_together', scope='session')
def run_once(tmp_path_factory):
    return functools.cache(functools.partial(run_checks, tmp_path_factory))


@pytest.mark.parametrize('network,ranks,check', [
    pytest.param(network, ranks, check, marks=of_network(network))
    for network, runs in RUNS.items() for ranks, checks in runs for check in checks.split()])
def test_results_are_exact(run_together, kind, network, ranks, check):
    runs, _ = run_together(kind, network)
    said = next(done for (of, checks), done in runs.items()
                if of == ranks and check in checks.split()).of_check(check)
    workers = {'ranks': ranks, 'nodes': 1}.get(network, 2)
    told = f'of {ranks} ranks has job .*; workers: {workers}, switches: {2 if network == "tree" else 1}'
    if network == 'switchless':
        told = f'of {ranks} ranks needs no switch: they share memory'
    elif network != 'ranks':
        told += '; ranks that share memory are one worker'
    assert re.search(f'{told}$', said, re.MULTILINE), said


@pytest.mark.parametrize('network', [
    pytest.param(network, marks=of_network(network)) for network in RUNS])
def test_no_job_stays(run_together, kind, network):
    runs, stats = run_together(kind, network)
    for done in runs.values():
        assert done.status == 0, done
        assert through_switch(done.err)[0] > 0
    assert stats is None or stats['jobs_made'] == stats['jobs_complete'] == stats['jobs_ended'] > 0


@pytest.mark.parametrize('check,shared', [('communicators', '1'), ('scatter', '0')])
def test_communicators_share_memory_with_the_switch(tmp_path, kind, check, shared):
    """Each by a port of its own: of a node's first rank, or of each rank."""
    with mpi_runs.by_memif(tmp_path, 4) as (host, live, variables):
        done = checked(host, kind, 4, check, NETFC_MPI_VERBOSE='1', NETFC_MPI_SHARED_MEMORY=shared, **variables)
        stats = live.stop()['aggregate']
    assert through_switch(done.err)[0] > 0
    assert stats['jobs_complete'] == stats['jobs_ended'] > 0


@pytest.mark.parametrize('change,why', [
    ({'NETFC_MPI_BIND_ADDRESS': ''}, 'NETFC_MPI_BIND_ADDRESS has to be an address'),
    ({'NETFC_MPI_INTERFACE': 'memif:/run/none,id=3-2'}, 'after id= there has to be a number'),
    ({'NETFC_MPI_INTERFACE': 'memif:/run/none'}, 'net_memif0,role=server')])
def test_memory_that_cannot_be_shared_with_the_switch_is_an_error(node, kind, change, why):
    done = checked(node, kind, 2, 'until_error',
                   **{'NETFC_MPI_INTERFACE': 'memif:/run/none', 'NETFC_MPI_BIND_ADDRESS': '10.1.0.1', **change})
    assert len(re.findall(rf'rank \d: netfc-mpi: .*{why}', done.out)) == 2, done


@BOTH_WAYS
def test_a_hundred_communicators_share_the_slots_of_a_switch(tmp_path, kind, option):
    done, stats = checked_at_switch(tmp_path, option, kind, 2, 'hundred')
    made = 200 + (option != mpi_runs.NODES)  # the first is tried as one worker of the node
    assert stats['jobs_complete'] == stats['jobs_ended'] == made
    said, = [line for line in done.err.splitlines() if 'slots of the switch' in line]
    assert 'a communicator of 2 ranks has 16 slots of the switch, not 32: many' in said


@pytest.mark.long
@BOTH_WAYS
@pytest.mark.parametrize('ranks', [2, 4, 8])
def test_many_sums_of_each_type(tmp_path, kind, ranks, option):
    """A million; NETFC_TEST_VALUES in the environment for more: 10,000,000 take 20 minutes."""
    values = os.environ.get('NETFC_TEST_VALUES', '1000000')
    done, _ = checked_at_switch(tmp_path, option, kind, ranks, 'many', patience=10, NETFC_TEST_VALUES=values)
    assert done.out == f'{values} doubles and as many floats: 0 differ\n'


def test_fortran_goes_the_same_way(tmp_path, node, kind):
    compiler = f'mpifort.{kind}'
    if not shutil.which(compiler) or not shutil.which('gfortran'):
        pytest.skip(f'{compiler} or gfortran is not installed')
    program = tmp_path / 'fortran'
    version = subprocess.run([f'mpirun.{kind}', '--version'], capture_output=True, check=True).stdout
    persistent = 'MPIX' if b'OpenRTE) 4.' in version else 'MPI'
    subprocess.run([compiler, '-cpp', f'-DPERSISTENT_ALLREDUCE={persistent}_ALLREDUCE_INIT', '-w',
                    '-fallow-argument-mismatch', SOURCES / 'fortran.f90', '-o', program,
                    '-J', tmp_path], check=True, timeout=mpi_runs.TIMEOUT_S)
    done = mpi_runs.run(node, kind, 3, program, NETFC_MPI_VERBOSE='1')
    assert done.status == 0, done
    assert through_switch(done.err) == [27, 0]


def test_numpy_arrays_go_the_same_way(node):
    """Debian's mpi4py is for Open MPI."""
    pytest.importorskip('mpi4py')
    if 'openmpi' not in mpi_runs.KINDS:
        pytest.skip('Open MPI is not there')
    done = mpi_runs.run(node, 'openmpi', 3, sys.executable, SOURCES / 'arrays.py',
                        NETFC_MPI_VERBOSE='1')
    assert done.status == 0, done
    assert through_switch(done.err)[0] == 9


def test_what_the_switch_does_not_have_is_left_to_mpi(node, kind):
    done = checked(node, kind, 3, 'left_to_mpi')
    said = [line for line in done.err.splitlines() if line.startswith('netfc-mpi')]
    assert [re.sub('.*switch has ', '', line) for line in said] == [
        'no floats of more than 64 bits (said once)',
        'no such operation on this type (said once)', 'no such type (said once)']
    assert 'MPI_LONG_DOUBLE, MPI_SUM, is left to MPI' in said[0]


@pytest.mark.parametrize('verbose', ['1', '2'])
def test_reductions_are_told_in_a_table_or_each_where_that_is_wanted(node, kind, verbose, tmp_path):
    done = checked(node, kind, 2, 'left_to_mpi', run=functools.partial(mpi_runs.run_apart, tmp_path),
                   NETFC_MPI_VERBOSE=verbose)
    each = done.err.count('left to MPI: the switch has no such type')
    assert each > 1 if verbose == '2' else each == 1, done
    assert 'MPI_Allreduce of MPI_FLOAT_INT, MPI_MAXLOC, is left to MPI' in done.err
    rows = re.findall(r'^netfc-mpi: (MPI_Allreduce) +(.*?)  +(.*?)  +(MPI|node|switch) +(\d+) +(\d+)$',
                      done.err, re.MULTILINE)
    assert ('MPI_Allreduce', 'MPI_FLOAT', 'MPI_PROD', 'MPI', '1', '1') in rows, done
    assert ('MPI_Allreduce', 'MPI_FLOAT', 'its own', 'MPI', '1', '2') in rows, done


def test_the_table_has_all_reductions_by_their_way(node, kind, tmp_path):
    """However many kinds there are; the totals are of the same rank."""
    done = checked(node, kind, 2, 'all_types', 'reduce', 'left_to_mpi',
                   run=functools.partial(mpi_runs.run_apart, tmp_path), NETFC_MPI_VERBOSE='1')
    assert len(re.findall('^netfc-mpi: others ', done.err, re.MULTILINE)) >= 1, done
    by_way = {'switch': 0, 'node': 0, 'MPI': 0}
    for way, calls in re.findall(r'^netfc-mpi: .* (MPI|node|switch) +(\d+) +\d+$', done.err, re.MULTILINE):
        by_way[way] += int(calls)
    said = re.search(r'rank 0: (\d+) reductions by the switch or the node, (\d+) left to MPI', done.err)
    assert [by_way['switch'] + by_way['node'], by_way['MPI']] == [int(said[1]), int(said[2])], done


def test_a_tool_that_profiles_sees_the_calls_of_the_program(alone, kind):
    """Though it comes after the library: reductions go the same way."""
    done = checked(alone, kind, 2, 'left_to_mpi', 'two_communicators', NETFC_MPI_VERBOSE='1',
                   also=mpi_runs.PROGRAMS / f'libmpi-tool-{kind}.so', **NO_SWITCH)
    counted = {int(count) for count in re.findall('the tool counted ([0-9]+)', done.out)}
    assert counted == {12}, done
    assert through_switch(done.err)[0] == 8, done


def test_variables_that_are_not_understood_are_told(alone, kind):
    """Those of the documents are known."""
    documents = (SOURCES.parents[1] / 'docs' / 'mpi.md').read_text()
    known = dict.fromkeys(re.findall(r'^\| `(NETFC_MPI_[A-Z_]+)`', documents, re.M), '')
    wrong = {'NETFC_MPI_LOCAL': 'yes', 'NETFC_MPI_VERBOSE': '3', 'NETFC_MPI_FALLBACK': '01', 'NETFC_MPI_FALBACK': '1',
             'NETFC_MPI_SLOT': '4'}
    done = checked(alone, kind, 2, 'allreduce', **{**known, **wrong, **NO_SWITCH})
    assert len(known) > 8, done
    assert sorted({line for line in done.err.splitlines() if line.startswith('netfc-mpi')}) == [
        'netfc-mpi: NETFC_MPI_FALLBACK=01 is not a number from 0 to 1: using 0',
        'netfc-mpi: NETFC_MPI_LOCAL=yes is not a number from 0 to 1: using 1',
        'netfc-mpi: NETFC_MPI_VERBOSE=3 is not a number from 0 to 2: using 0',
        'netfc-mpi: there is no variable NETFC_MPI_FALBACK: see libnetfc-mpi(7)',
        'netfc-mpi: there is no variable NETFC_MPI_SLOT: see libnetfc-mpi(7)']


@pytest.mark.parametrize('change', [
    {'NETFC_MPI_LOCAL': '0'}, {'NETFC_MPI_SHARED_MEMORY': '0'}, {'NETFC_TEST_NODES': '{0} {1}'}],
    ids=['refused', 'not_shared', 'two_nodes'])
def test_without_a_switch_named_nodes_that_do_not_reduce_leave_it_to_mpi(alone, kind, change):
    with hosts.Host(1) as other:
        change = {name: value.format(alone.name, other.name) for name, value in change.items()}
        done = checked(alone, kind, 3, 'communicators', **NO_SWITCH, **change)
    # By each process that is the first of a communicator.
    said = [line for line in done.err.splitlines() if line.startswith('netfc-mpi')]
    assert {line.split(': ', 2)[-1] for line in said} == {'NETFC_SWITCH names no switch (said once)'}, done


def test_a_node_without_a_switch_has_the_bits_of_the_switch(node, alone, kind):
    """Of each type and operation: rounded, subnormal, too large, no number; of ranks in any order."""
    ways = ((node, {'NETFC_MPI_SHARED_MEMORY': '0'}), (node, {}), (alone, NO_SWITCH))
    runs = [checked(host, kind, 4, 'bits', **environment) for host, environment in ways]
    said = {'\n'.join(sorted(done.out.splitlines())) for done in runs}
    assert len(said) == 1 and said.pop().count('\n') == 4 * 30 - 1, runs


def test_a_node_needs_no_switch_even_if_one_is_named(tmp_path, kind):
    done, stats = checked_at_switch(tmp_path, mpi_runs.NODES, kind, 3, 'communicators', NETFC_MPI_LOCAL='1')
    assert stats['jobs_made'] == 0


def test_two_nodes_need_a_switch(pair, kind):
    done = checked(pair[0], kind, 4, 'allreduce', NETFC_MPI_LOCAL='1', NETFC_TEST_NODES=pair[1],
                   NETFC_MPI_VERBOSE='1')
    assert '; workers: 2, switches: 1; ranks that share memory are one worker' in done.err, done


@pytest.mark.slow
@pytest.mark.parametrize('change', [NO_SWITCH, {'NETFC_MPI_SHARED_MEMORY': '0'}], ids=['switchless', 'ranks'])
def test_ranks_that_compute_after_they_start_the_first_reduction_are_waited_for(node, kind, change):
    """However short the time to join is, which is enough for ranks that do."""
    done = checked(node, kind, 3, 'first_computes', NETFC_MPI_VERBOSE='1', NETFC_MPI_JOIN_TIMEOUT='5', **change)
    assert through_switch(done.err) == [3, 0], done


def test_a_hundred_communicators_of_a_node_without_a_switch(alone, kind):
    done = checked(alone, kind, 2, 'hundred', **NO_SWITCH)
    assert not done.err.count('netfc-mpi'), done


SHARED_BY_NOBODY = ['file 0', 'map 0', 'map 1', 'other 1']


@pytest.mark.parametrize('scarce', SHARED_BY_NOBODY)
def test_memory_that_a_node_without_a_switch_cannot_share_leaves_all_to_mpi(alone, kind, scarce):
    done = checked(alone, kind, 3, 'communicators', also=SCARCE, NETFC_TEST_SCARCE=scarce, **NO_SWITCH)
    assert 'NETFC_SWITCH names no switch, and its ranks cannot share memory' in done.err, done


@pytest.mark.parametrize('check,named', [
    ('dies', 'Rank 2 has ended'), ('first_dies', 'Rank 0 has ended'), ('dies_amid', 'Rank 1 has ended')])
def test_a_rank_that_dies_without_a_switch_is_named(alone, kind, check, named):
    done = checked(alone, kind, 3, check, status=None, options=RECOVERY[kind], **NO_SWITCH)
    assert len(re.findall(rf'rank (\d): .*{named}', done.out)) == 2, done


def assert_stopped_are_named(done):
    for rank in range(2):
        assert re.search(rf'rank {rank + 1}: netfc-mpi: Rank {rank} is stopped \(process \d+\)', done.out), done


def test_a_rank_that_is_stopped_without_a_switch_is_named(alone, kind):
    assert_stopped_are_named(checked(alone, kind, 4, 'stops', status=None, options=RECOVERY[kind], **NO_SWITCH))


def test_lengths_that_differ_without_a_switch_are_an_error(alone, kind):
    done = checked(alone, kind, 3, 'mismatch', **NO_SWITCH)
    assert done.out.count('refused') == 3, done
    assert 'call different collectives' in done.err


@BOTH_WAYS
def test_a_job_number_that_others_have_is_no_hindrance(tmp_path, kind, option):
    with mpi_runs.switched(tmp_path, option) as (host, live), host.udp() as socket:
        other = aggregation_workers.Worker(socket, hosts.SWITCH_IP, 0, job=0x4242)
        assert other.join(1).code == 0
        done = checked(host, kind, 3, 'doubles', also=mpi_runs.PROGRAMS / 'libsame_random.so', NETFC_MPI_VERBOSE='1')
        live.stop()
    tried = 1 if option == mpi_runs.NODES else 2  # jobs before
    assert f'has job {0x4242 + tried * 9973} ' in done.err, done


@pytest.mark.parametrize('option,why', [
    ('--aggregate=workers=2', 'worker'), ('--aggregate=jobs=1,port=30000', 'answer|listen')])
def test_a_switch_that_does_not_take_the_job_is_an_error(tmp_path, kind, option, why):
    done, _ = checked_at_switch(tmp_path, option, kind, 3, 'until_error', NETFC_MPI_JOIN_TIMEOUT='3')
    assert len(re.findall(f'rank \\d: .*({why})', done.out)) == 3, done


def test_slots_that_run_out_are_an_error(tmp_path, kind):
    """The third communicator is one too many."""
    done, stats = checked_at_switch(tmp_path, f'{mpi_runs.NODES},slots=2', kind, 3, 'hundred', status=None,
                                    NETFC_MPI_SLOTS='1')
    assert done.status != 0 and 'has no slot left for job' in done.err, done
    assert stats['jobs_complete'] == 2


@BOTH_WAYS
def test_persistent_requests_that_find_no_job_are_an_error(tmp_path, kind, option):
    """MPI_COMM_WORLD has the only one."""
    done, _ = checked_at_switch(tmp_path, f'{option}{"," if "=" in option else "="}jobs=1', kind, 3, 'allreduce',
                                'persistent_until_error')
    assert len(re.findall(r'rank \d: netfc-mpi: Each persistent request has a job of its own', done.out)) == 3, done


@BOTH_WAYS
def test_lengths_that_differ_are_an_error(tmp_path, kind, option):
    done, _ = checked_at_switch(tmp_path, option, kind, 3, 'mismatch')
    assert done.out.count('refused') == 3, done
    assert 'call different collectives' in done.err


@pytest.fixture(name='decimal_comma', scope='module')
def locale_with_a_decimal_comma(tmp_path_factory):
    """Variables of a process."""
    folder = tmp_path_factory.mktemp('locales')
    subprocess.run(['localedef', '-i', 'de_DE', '-f', 'UTF-8', folder / 'comma'], check=True, timeout=60)
    chosen = {'LOCPATH': str(folder), 'LC_ALL': 'comma'}
    subprocess.run([sys.executable, '-c', 'from locale import *; setlocale(LC_ALL, ""); assert atof("2,5") == 2.5'],
                   env=chosen, check=True, timeout=60)
    return chosen


def test_errors_are_fatal_unless_the_program_says_otherwise(node, kind, decimal_comma):
    done = checked(node, kind, 2, 'allreduce', status=None, NETFC_SWITCH='10.1.0.77', NETFC_MPI_JOIN_TIMEOUT='5',
                   **decimal_comma)
    assert done.status != 0 and '10.1.0.77' in done.err and 'is not a number' not in done.err, done


def checked_while_killed(folder, option, kind, check, **environment):
    """A check, whose switch is killed once it has printed that it reduces."""
    with mpi_runs.switched(folder, option) as (host, live):
        process = mpi_runs.launch(host, kind, 3, mpi_runs.checks(kind), check, **environment)
        assert process.stdout.readline() == 'reduced\n', mpi_runs.finish(process)
        live.process.kill()
        done = mpi_runs.finish(process)
    assert done.status == 0, done
    return done


@pytest.mark.parametrize('check,option', [
    ('until_error', '--aggregate'), ('until_error', mpi_runs.NODES),
    ('persistent_until_error', mpi_runs.NODES)], ids=['ranks', 'nodes', 'persistent'])
def test_a_switch_that_is_killed_ends_reductions_with_an_error(tmp_path, kind, check, option):
    done = checked_while_killed(tmp_path, option, kind, check, NETFC_MPI_DEADLINE='3')
    assert len(re.findall(r'rank \d: .*10\.1\.0\.100', done.out)) == 3, done


@BOTH_WAYS
def test_a_switch_that_is_killed_is_survived_by_mpi_where_that_is_wanted(tmp_path, kind, option):
    done = checked_while_killed(tmp_path, option, kind, 'survive', NETFC_MPI_DEADLINE='1', NETFC_MPI_FALLBACK='1')
    assert done.err.count('by MPI from now on') == 1, done


def checked_at_restarting(host, kind, workers, passed, check, **environment):
    """A check whose switch restarts before all of so many workers have joined, or know it: first_joins.py."""
    with host.entered():
        restarting = first_joins.Restarting(workers, passed, host.inside())
    with restarting:
        process = mpi_runs.launch(host, kind, 3, mpi_runs.checks(kind), check, NETFC_SWITCH=restarting.address,
                                  **environment)
        restarting.restart()
        done = mpi_runs.finish(process)
    assert done.status == 0, done
    return done


@pytest.mark.parametrize('shared,workers', [('0', 3), ('1', 1)], ids=['ranks', 'nodes'])
def test_a_switch_that_restarts_before_all_have_joined_is_no_hindrance(alone, kind, shared, workers):
    done = checked_at_restarting(alone, kind, workers, 0, 'allreduce', NETFC_MPI_SHARED_MEMORY=shared,
                                 NETFC_MPI_VERBOSE='1')
    assert through_switch(done.err)[0] > 0 and f'workers: {workers}, ' in done.err, done


def test_a_switch_that_restarts_before_all_know_that_they_have_joined_is_an_error(alone, kind):
    done = checked_at_restarting(alone, kind, 3, 1, 'until_error', NETFC_MPI_SHARED_MEMORY='0',
                                 NETFC_MPI_JOIN_TIMEOUT='5')
    assert len(re.findall(r'rank \d: .*another rank of the communicator cannot join', done.out)) == 2, done
    assert len(re.findall(r'rank \d: .*Not all 3 workers have joined', done.out)) == 1, done


# Where mpirun lets the others live.
RECOVERY = {'openmpi': ['--enable-recovery'], 'mpich': ['-disable-auto-cleanup']}


@pytest.mark.parametrize('check,option,named', [
    ('dies', '--aggregate=stall=2', 'worker 2'),
    ('dies', f'{mpi_runs.NODES},stall=2', 'Rank 2 has ended'),
    ('first_dies', f'{mpi_runs.NODES},stall=2', 'Rank 0 has ended')], ids=['rank', 'of_node', 'first_of_node'])
def test_a_rank_that_dies_is_named(tmp_path, kind, check, option, named):
    done, _ = checked_at_switch(tmp_path, option, kind, 3, check, status=None, options=RECOVERY[kind])
    assert len(re.findall(rf'rank (\d): .*{named}', done.out)) == 2, done


def test_a_rank_of_the_node_that_is_stopped_is_named(tmp_path, kind):
    done, _ = checked_at_switch(tmp_path, mpi_runs.NODES, kind, 4, 'stops', status=None, options=RECOVERY[kind])
    assert_stopped_are_named(done)


@contextlib.contextmanager
def two_nodes(folder, root_option=f'{mpi_runs.NODES},stall=2', leaf_option=None):
    """Two hosts at a switch, or each at a leaf of its own. Yields them, and NETFC_TEST_NODES."""
    leaves = {'leaf_option': leaf_option} if leaf_option else {}
    with tree_network.Tree(folder, 2, root_option, **leaves) as tree:
        for host in tree.hosts:
            host.ip('link', 'set', 'lo', 'up')
        switches = [tree_network.leaf_ip(n) if leaf_option else hosts.SWITCH_IP for n in range(2)]
        yield tree, ' '.join(f'{host.name}={ip}' for host, ip in zip(tree.hosts, switches))


TREE = {'root_option': '--aggregate=digits=fp32+fp64+int32+int64,stall=2',
        'leaf_option': f'{mpi_runs.NODES},stall=2'}


@pytest.fixture(name='pair', scope='module')
def two_nodes_at_a_switch(tmp_path_factory):
    """A host to start ranks on, and NETFC_TEST_NODES, for tests that leave a switch as it was."""
    with two_nodes(tmp_path_factory.mktemp('pair')) as (tree, nodes):
        yield tree.hosts[0], nodes
        tree.stop()


@pytest.mark.parametrize('scarce', ['file 0', 'map 0', 'map 1', 'map 3', 'other 2'])
def test_memory_that_a_node_cannot_share_leaves_each_rank_a_worker(pair, kind, scarce):
    done = checked(pair[0], kind, 4, 'allreduce', also=SCARCE, NETFC_TEST_SCARCE=scarce, NETFC_TEST_NODES=pair[1],
                   NETFC_MPI_VERBOSE='1')
    assert 'each rank of a communicator is a worker of its own' in done.err, done
    assert 'workers: 4, switches: 1\n' in done.err, done


@pytest.mark.parametrize('scarce,why', [
    ('places 0', 'not enough memory'), ('places 2', 'not enough memory'), ('thread 0', 'no thread')])
def test_a_rank_that_has_no_memory_to_join_is_an_error_for_all(pair, kind, scarce, why):
    done = checked(pair[0], kind, 4, 'until_error', also=SCARCE, NETFC_TEST_SCARCE=scarce, NETFC_TEST_NODES=pair[1])
    assert len(re.findall(rf'rank {scarce[-1]}: netfc-mpi: .*{why}', done.out)) == 1, done
    assert len(re.findall(r'rank \d: .*another rank of the communicator cannot join', done.out)) == 3, done


def test_a_job_number_that_others_have_at_one_leaf_is_no_hindrance(tmp_path, kind):
    with two_nodes(tmp_path, **TREE) as (tree, nodes), tree.hosts[1].udp() as socket:
        other = aggregation_workers.Worker(socket, tree_network.leaf_ip(1), 0, job=0x4242)
        assert other.join(1).code == 0
        done = checked(tree.hosts[0], kind, 4, 'doubles', also=mpi_runs.PROGRAMS / 'libsame_random.so',
                       NETFC_MPI_VERBOSE='1', NETFC_TEST_NODES=nodes)
        tree.stop()
    assert f'has job {0x4242 + 9973} ' in done.err, done
    assert '; workers: 2, switches: 2; ranks that share memory are one' in done.err


def test_a_rank_that_dies_is_named_on_other_nodes(tmp_path, kind):
    with two_nodes(tmp_path) as (tree, nodes):
        done = checked(tree.hosts[0], kind, 4, 'dies', status=None, options=RECOVERY[kind], NETFC_TEST_NODES=nodes)
        tree.stop()
    assert 'rank 1: netfc-mpi: Rank 3 has ended' in done.out, done
    assert len(re.findall('rank [02]: .*That is ranks 1, 3 of the', done.err)) == 2, done


def test_no_job_stays_after_an_abort(tmp_path, kind):
    with mpi_runs.switched(tmp_path, '--aggregate=idle=1,jobs=1') as (host, live):
        checked(host, kind, 3, 'exits', status=3)
        with host.udp() as socket:
            late = aggregation_workers.Worker(socket, hosts.SWITCH_IP, 0, job=2)
            hosts.wait_until(lambda: late.join(1).code == 0, 'the place of the job')
        stats = live.stop()['aggregate']
    assert stats['jobs_timed_out'] == 1


def test_the_library_for_another_mpi_lets_the_program_run(tmp_path, kind):
    other, = {'openmpi', 'mpich'} - {kind}
    if other not in mpi_runs.KINDS:
        pytest.skip('there is one MPI library only')
    done, stats = checked_at_switch(tmp_path, '--aggregate', kind, 3, 'communicators', library=other)
    assert done.err.count('which the program does not use; the program runs without it') == 1
    assert stats['jobs_made'] == 0


def test_a_program_without_mpi_does_not_notice(kind):
    library = mpi_runs.LIBRARIES / f'libnetfc-mpi-{kind}.so'
    done = subprocess.run(['sh', '-c', 'echo as ever'], env={'LD_PRELOAD': str(library)}, text=True,
                          capture_output=True, check=True, timeout=mpi_runs.TIMEOUT_S)
    assert (done.stdout, done.stderr) == ('as ever\n', '')
