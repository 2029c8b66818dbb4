# SPDX-License-Identifier: BSD-3-Clause
"""Workers that share memory with the switch, by ports net_memif: no kernel between, and no root.

Real processes: memory that they share, and one that is killed.
"""

import contextlib
import os
import subprocess

import aggregation_workers
import hosts
import numpy as np
import pytest
import restarts
import sanitized
import switch
import tiers
from side_by_side import together

from netfc import allreduce

TOKEN = 0x5eed
COUNT = 100_000
PAIRS = 8
SWITCH, WORKER = {4: '10.9.0.100', 6: 'fd09::64'}, {4: '10.9.0.{}', 6: 'fd09::{}'}

pytestmark = pytest.mark.skipif(
    sanitized.is_sanitized(),
    reason='the client in this process and the switch beside it need different environments')


@contextlib.contextmanager
def serving(folder, count, aggregate='', lcores=1):
    """A switch with a memif port for each of `count` workers, all at one socket."""
    path = switch.RUNTIME / f'memif-{next(hosts.numbers)}'
    ports = [f'net_memif{number},role=server,id={number},socket={path},socket-abstract=no'
             for number in range(count)]
    options = ['--address', f'{SWITCH[4]}/24', '--address', f'{SWITCH[6]}/64',
               '--forward', 'bridge', f'--aggregate=formats=fp32+int32,slots=256{aggregate}']
    with hosts.LiveSwitch(folder, ports, options, lcores=lcores, memory=1024) as live:
        live.wait_until_ready()
        yield path, live


def communicator(path, rank, count, family=4, **options):
    return allreduce.Communicator(
        SWITCH[family], worker=rank, workers=count, token=TOKEN, build=switch.BUILD,
        **{'interface': f'memif:{path},id={rank}',
           'bind_address': WORKER[family].format(rank + 1), **options})


def descriptors(live):
    """How many files a switch has open."""
    return len(os.listdir(f'/proc/{live.process.pid}/fd'))


@pytest.mark.parametrize('family, shards, chunk', [(4, 1, 8948), (6, 1, 1428), (4, 2, 1448)])
def test_sums_of_vectors(tmp_path, family, shards, chunk):
    """Chunks as large as packets of 9,000 bytes and the switch take; the workers join twice."""
    values = aggregation_workers.vectors(3, COUNT)

    def work(rank):
        mine = values[rank].copy()
        for _ in range(2):
            mine[:] = values[rank]
            with communicator(path, rank, 3, family) as comm:
                comm.allreduce(mine)
                info = comm.info
        return mine, info

    with serving(tmp_path, 3, f',bytes={chunk},shards={shards}', shards) as (path, live):
        results = together(3, work)
        stats = live.stop()
    exact = np.frombuffer(aggregation_workers.exact_sum(values), '>f4').astype('f4')
    for result, info in results:
        assert np.array_equal(result.view('u4'), exact.view('u4'))
        assert info['memory'] and info['bytes'] == chunk and info['sockets'] == shards
    assert stats['aggregate']['jobs_ended'] == 2
    drops = {name for name, count in stats['drops'].items() if count}
    assert drops <= {'aggregate_inbox', 'tx_full'}


def test_a_port_serves_one_worker_at_a_time(tmp_path):
    with serving(tmp_path, 2) as (path, _), communicator(path, 0, 1):
        with pytest.raises(allreduce.AllreduceError, match='net_memif0,role=server.*nobody uses'):
            communicator(path, 0, 1)
        with communicator(path, 0, 1, interface=f'memif:{path},id=1', bind_address='10.9.0.2', job=1):
            pass


@pytest.mark.parametrize('times', [1, *tiers.later('long', 10_000 // PAIRS)])
def test_workers_that_are_killed_and_started_again(tmp_path, times):
    """They have the port that they had, always: none gets an earlier result, and the others are told.

    The switch keeps nothing that they have sent it.
    """
    with serving(tmp_path, 2 * PAIRS) as (path, live):
        before = descriptors(live)
        memif = f'memif:{path},id=%u'
        process = subprocess.Popen(
            restarts.words(PAIRS, times, '--switch', SWITCH[4], '--from', '10.9.0.1%u', '--interface-0', memif,
                           '--interface-1', memif), text=True, **restarts.PIPES)
        assert restarts.count_of(process) == PAIRS * times
        hosts.wait_until(lambda: descriptors(live) == before, 'the files of workers to be closed')
        assert live.stop()['aggregate']['taken'] == PAIRS * times


@pytest.mark.parametrize('options, message', [
    ({'interface': 'memif:/nowhere/memif'}, 'memif:/nowhere/memif: No such file'),
    ({'interface': 'memif:'}, 'memif:: Invalid argument'),
    ({'interface': 'memif:/nowhere/memif,id=one'}, 'Invalid argument'),
    ({'interface': 'memif:/nowhere/memif,id=-1'}, 'Invalid argument'),
    ({'interface': 'memif:/nowhere/memif,id=4294967296'}, 'Invalid argument'),
    ({'bind_address': None}, 'bind_address'),
    ({'switches': ['10.9.0.100', '10.9.0.101']}, 'leads to one switch')])
def test_what_cannot_be(tmp_path, options, message):
    given = {'switches': '10.9.0.100', 'interface': f'memif:{tmp_path}/socket',
             'bind_address': '10.9.0.1', 'build': switch.BUILD, **options}
    with pytest.raises((allreduce.AllreduceError, ValueError), match=message):
        allreduce.Communicator(**given)


def test_a_switch_that_goes_away(tmp_path):
    """Nothing answers any more; that is said as it is of one that is out of reach."""
    with serving(tmp_path, 2) as (path, live):
        comm = communicator(path, 0, 1, silence=1.0)
        values = np.ones(COUNT, 'f4')
        comm.allreduce(values)
        live.process.kill()
        live.process.wait()
        with pytest.raises(allreduce.AllreduceError, match='has not answered') as caught:
            comm.allreduce(values)
        assert caught.value.status == 'timeout'
        with pytest.raises(allreduce.AllreduceError):
            comm.leave()
