# SPDX-License-Identifier: BSD-3-Clause
"""libnetfc-allreduce, by netfc.allreduce, against the running switch.

A running switch and the library in Python, over interfaces of the kernel.
"""

import concurrent.futures
import subprocess
import threading

import aggregation_orders as orders
import aggregation_workers
import hosts
import numpy as np
import pytest
import sanitized
import switch

from netfc import allreduce
from netfc.control import Control
from project_scripts import PROGRAMS
from side_by_side import beside, together

SWITCH_IP = hosts.SWITCH_IP
TOKEN = 0x5eed
COUNT = 20_000
JOINS = 25  # of each job

pytestmark = [
    hosts.needs_namespaces,
    pytest.mark.skipif(
        sanitized.is_sanitized(),
        reason='the client in this process and the switch beside it need different environments;'
        ' test_package.py runs the client with the address sanitizer')]


def aggregating(folder, option='--aggregate', lcores=1, more=()):
    """A host whose interface is a TAP port of a switch that aggregates."""
    return hosts.at_tap(folder, ['--address', f'{SWITCH_IP}/24', option, *more], lcores=lcores)


def in_threads(host, count, work):
    """work(rank) in a thread of its own for each rank, in the host's namespace; what they return."""
    def run(rank):
        with host.entered():
            return work(rank)

    return together(count, run)


def communicator(rank, count, **options):
    return allreduce.Communicator(SWITCH_IP, worker=rank, workers=count, token=TOKEN,
                                  build=switch.BUILD, **options)


@pytest.mark.parametrize('shards', [1, 2, 4])
def test_sums_of_vectors(tmp_path, shards):
    draw = np.random.default_rng(shards)
    values = (draw.standard_normal((3, COUNT)) * 10.0 ** draw.integers(-6, 6, COUNT)).astype('f4')

    def work(rank):
        mine = values[rank].copy()
        with communicator(rank, 3) as comm:
            comm.allreduce(mine)
        return mine

    with aggregating(tmp_path, f'--aggregate=shards={shards}', lcores=shards) as (host, live):
        results = in_threads(host, 3, work)
        stats = live.stop()
    exact = np.frombuffer(aggregation_workers.exact_sum(values), '>f4')
    for result in results:
        assert np.array_equal(result.view('u4'), exact.astype('f4').view('u4'))
    assert stats['aggregate']['jobs_ended'] == 1


@pytest.mark.parametrize('keyed', [False, True], ids=['no key', 'key'])
def test_jobs_that_come_and_go_by_the_same_numbers_and_token(tmp_path, keyed):
    """What a shard has of an earlier job, or gets late, is in no sum of a later one."""
    key = tmp_path / 'key'
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    options = {'key_file': key} if keyed else {}

    def values(job, again, rank, call):
        return np.arange(300, dtype='f4') + 1000 * job + 10 * again + 3 * rank + call

    def work(number):
        job, rank = divmod(number, 2)
        wrong = 0
        for again in range(JOINS):
            with communicator(rank, 2, job=job, **options) as comm:
                for call in range(3):
                    mine = values(job, again, rank, call)
                    comm.allreduce(mine)
                    wrong += np.count_nonzero(
                        mine != values(job, again, 0, call) + values(job, again, 1, call))
        return wrong

    aggregate = '--aggregate=shards=4' + (f',key={key}' if keyed else '')
    with aggregating(tmp_path, aggregate, lcores=4) as (host, live):
        assert in_threads(host, 6, work) == [0] * 6
        stats = live.stop()
    assert stats['aggregate']['jobs_ended'] == 3 * JOINS and stats['aggregate']['bad_tag'] == 0


def test_a_switch_is_drained(tmp_path):
    """Its job goes on to the end, whatever else is changed, another is refused; then it ends, and so does
    netfc-ctl."""
    init = tmp_path / 'init'
    init.write_text('tables bf16_k128\n')
    path, joined, drained = switch.RUNTIME / f'drain-{next(hosts.numbers)}', threading.Barrier(3), threading.Event()

    def work(rank):
        results = []
        with communicator(rank, 2) as comm:
            for call in range(3):
                mine = np.full(COUNT, rank + call, 'f4')
                comm.allreduce(mine)
                results.append(mine)
                if call == 0:
                    joined.wait(switch.TIMEOUT_S)
                    assert drained.wait(switch.TIMEOUT_S)
        return results

    with aggregating(tmp_path, more=['--control', path, '--init', init]) as (host, live), \
            concurrent.futures.ThreadPoolExecutor(1) as apart:
        workers = apart.submit(in_threads, host, 2, work)
        joined.wait(switch.TIMEOUT_S)
        drain = subprocess.Popen([PROGRAMS / 'netfc-ctl', '--socket', path, 'drain'], text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            assert drain.stderr.readline() == 'netfc-ctl: jobs to end: 1\n'
            with Control(path) as control:
                assert control.do('show')['aggregate']['takes_jobs'] == 0
                init.write_text('tables fp16_k512\n')
                control.do('reload')
                assert list(control.do('show')['tables']) == ['fp16']
            with host.entered(), pytest.raises(allreduce.AllreduceError, match='no place for job 9: .* or is drained'):
                communicator(0, 1, job=9)
            assert drain.poll() is None and live.process.poll() is None
            drained.set()
            for results in workers.result(switch.TIMEOUT_S):
                assert [result[0] for result in results] == [1, 3, 5]
            stats = live.wait()
            said = drain.communicate(timeout=switch.TIMEOUT_S)
        finally:
            drained.set()
            drain.kill()
    assert (drain.returncode, *said) == (0, '', '')
    assert stats['aggregate']['jobs_ended'] == 1 and stats['aggregate']['draining'] > 0


def test_a_switch_without_jobs_is_drained_at_once(tmp_path):
    path = switch.RUNTIME / f'drain-{next(hosts.numbers)}'
    with aggregating(tmp_path, more=['--control', path]) as (_, live):
        with Control(path) as control:
            assert control.do('drain') == {'jobs': 0}
            control.wait_for_end()
        live.wait()


def test_a_worker_without_the_key_gets_no_answer(tmp_path):
    key = tmp_path / 'key'
    key.write_text(64 * 'a' + '\n')
    key.chmod(0o600)

    def work(rank):
        with pytest.raises(allreduce.AllreduceError, match='wants tags') as failed:
            communicator(rank, 1, join_timeout=1)
        return failed.value.status

    with aggregating(tmp_path, f'--aggregate=key={key}') as (host, live):
        assert in_threads(host, 1, work) == ['timeout']
        stats = live.stop()
    assert stats['aggregate']['bad_tag'] > 0 and stats['aggregate']['jobs_made'] == 0


def test_tags_over_veth_whose_kernel_cuts_no_datagrams(tmp_path):
    """AF_PACKET gets two joins in one datagram as one, whose tag is wrong: the worker joins without."""
    key = tmp_path / 'key'
    key.write_text(64 * 'a' + '\n')
    key.chmod(0o600)

    def work(rank):
        mine = np.full(COUNT, rank + 1, 'f4')
        with communicator(rank, 2, key_file=key) as comm:
            comm.allreduce(mine)
            return comm.info['gso'], mine[0], mine[-1]

    options = ['--address', f'{SWITCH_IP}/24', f'--aggregate=key={key}']
    with hosts.veth_network(1, checksums=False) as (middle, (host,)), hosts.LiveSwitch(
            tmp_path, hosts.veth_ports(1), options, namespace=middle) as live:
        live.wait_until_ready()
        assert in_threads(host, 2, work) == [(False, 3, 3)] * 2
        live.stop()


def test_a_key_that_others_can_read_is_refused(tmp_path):
    key = tmp_path / 'key'
    key.write_bytes(bytes(32))
    key.chmod(0o640)
    done = switch.execute([*switch.eal_options(['net_null0']), '--', '--address=10.0.0.2/24',
                           f'--aggregate=key={key}'])
    assert done.returncode == 1 and f'--aggregate key=: ' in done.stderr
    assert str(key) in done.stderr and 'chmod 600' in done.stderr


def test_a_worker_that_gives_up_is_named(tmp_path):
    def work(rank):
        with communicator(rank, 3) as comm:
            mine = np.ones(COUNT, 'f4')
            comm.allreduce(mine)
            if rank == 1:
                comm.abort()
                return None
            with pytest.raises(allreduce.AllreduceError) as failed:
                comm.allreduce(mine)
            return failed.value.status, failed.value.worker

    with aggregating(tmp_path, '--aggregate=stall=100000') as (host, live):
        assert in_threads(host, 3, work) == [('failed', 1), None, ('failed', 1)]
        live.stop()


@pytest.mark.parametrize('port', ['TAP', 'AF_PACKET'])
def test_a_switch_that_is_killed_ends_an_allreduce_with_an_error(tmp_path, port):
    """With a TAP port the route goes as well; behind a veth the address is silent."""
    def work(rank):
        mine, results = np.full(COUNT, rank + 1, 'f4'), 0
        with pytest.raises(allreduce.AllreduceError) as failed:
            with communicator(rank, 3, deadline=3) as comm:
                while True:
                    comm.allreduce(mine, 'mean')
                    assert np.all(mine == 2)
                    results += 1
                    began.set()
        return results, failed.value.status

    began = threading.Event()
    with orders.PORTS[port](tmp_path, 1) as (host, live):
        with beside(lambda: (began.wait(30), live.process.kill())):
            told = in_threads(host, 3, work)
    assert all(results > 0 for results, _ in told)
    assert {status for _, status in told} <= {'timeout', 'system', 'refused'}, told


def test_without_a_switch_that_aggregates(tmp_path):
    def work(rank):
        with pytest.raises(allreduce.AllreduceError) as failed:
            communicator(rank, 1)
        return str(failed.value)

    with hosts.at_tap(tmp_path, ['--address', f'{SWITCH_IP}/24']) as (host, live):
        said, = in_threads(host, 1, work)
        live.stop()
    assert 'aggregate' in said
