# SPDX-License-Identifier: BSD-3-Clause
"""netfc.torch: who differs, is late, stops, dies or is not there is named."""

import contextlib
import json
import signal
import subprocess

import pytest

import first_joins
from allreduce_server import SERVER, serving
from test_allreduce import joined
from torch_ranks import environment, failures, free_port, marks, ranks, results, running

pytestmark = marks


@pytest.mark.parametrize('body', ['different_shapes', 'different_orders'])
def test_calls_that_differ_are_named_by_rank(tmp_path, body):
    told = failures(tmp_path, 2, body)
    sizes = (10, 11) if body == 'different_shapes' else (200, 100)
    for text in told:
        assert 'call different collectives, says' in text
        for rank, size in enumerate(sizes):
            assert f'rank {rank} ' in text
            assert f'all_reduce 1, sum of {size} float32' in text


def test_a_tensor_of_nothing_is_no_others(tmp_path):
    """A rank's that has no values: its next reduction is not taken for it."""
    for text in failures(tmp_path, 2, 'different_shapes_one_of_nothing'):
        assert 'call different collectives, says' in text
        for rank in range(2):
            assert f'rank {rank} ' in text and f'of {10 * rank} float32' in text


def test_after_a_failure_all_fails_at_once(tmp_path):
    assert results(tmp_path, 2, 'fail_twice') == [[True, True]] * 2


def test_a_group_that_failed_is_freed(tmp_path):
    assert results(tmp_path, 2, 'free_after_a_failure') == [True] * 2


def test_functional_collectives_fail_too(tmp_path):
    said, errors = ranks(tmp_path, 2, 'fail_functionally')
    if said[0] == {'result': 'none here'}:
        pytest.skip('this torch has no functional collectives in C++: 2.3 and later have')
    assert all('call different collectives' in one.get('error', '') for one in said), (said, errors)


def test_a_new_group_after_a_failure(tmp_path):
    assert results(tmp_path, 2, 'join_again') == [[2.0] * 3] * 2


def test_a_rank_that_is_killed_is_named(tmp_path):
    """Long before the time-out, and before the switch says so."""
    told = failures(tmp_path, 3, 'die_in_training', TIMEOUT='300')
    assert told[2] is None
    for text in told[:2]:
        assert 'The process of rank 2 (' in text and 'has ended' in text


@pytest.mark.slow
@pytest.mark.parametrize('apart', ['0', '1.5'])
def test_a_rank_that_does_not_call_is_named_at_the_time_out(tmp_path, apart):
    """Before the switch does; with what the others had sent, its own sum is complete. Who only
    hears that another's time-out has expired names the same rank."""
    said, _ = ranks(tmp_path, 3, 'one_is_late', '12', apart, TIMEOUT='6')
    for rank, one in enumerate(said[:2]):
        assert one['type'] == 'AllreduceError' and one['seconds'] >= 6
        first, *others = one['error'].splitlines()
        assert f'rank {rank} ' in first and 'all_reduce 2, sum of 5 float32' in first
        assert 'not done within the timeout of 6 s: rank 2 (' in first and 'did not call it' in first
        assert 'its latest call was all_reduce 1, sum of 5 float32' in others[1]
        assert f'rank {1 - rank} ' in others[0] and 'all_reduce 2' in others[0]
    assert said[2].get('result') == [3.0] * 5


@pytest.mark.parametrize('seconds, text', [('15', 'missing: rank 2 ('), ('0', 'has ended')])
def test_a_group_inside_that_a_rank_does_not_use(tmp_path, seconds, text):
    timeout = '5' if seconds == '15' else '300'
    said, _ = ranks(tmp_path, 3, 'one_does_not_use_a_group', seconds, TIMEOUT=timeout)
    for one in said[:2]:
        first = one['error'].splitlines()[0]
        assert 'joining the job' in first and text in first and 'rank 2 (' in first


@pytest.mark.slow
def test_a_rank_that_is_stopped_is_named(tmp_path):
    """As one on a machine that is out of reach: its process may be there, and says nothing."""
    with serving() as address, running(tmp_path, 3, ['stop_in_training'], address, TIMEOUT='300',
                                       NETFC_SILENCE='3') as processes:
        told = [last_line(process) for process in processes[:2]]
    for one in told:
        assert 'no sign of life of rank 2 (' in one['error'] and one['seconds'] < 25


@pytest.mark.slow
def test_a_late_rank_is_waited_for(tmp_path):
    """Longer than for one that says nothing, and than the switch's own patience."""
    told = results(tmp_path, 2, 'one_is_late', '9', TIMEOUT='60', NETFC_SILENCE='3', server=dict(stall_ms=1000))
    assert told == [[2.0] * 5] * 2


def last_line(process):
    return json.loads(process.communicate()[0].splitlines()[-1])


@contextlib.contextmanager
def storing():
    """A store in a process of its own: the process and host:port."""
    port = free_port()
    code = ('import sys, torch_store\n'
            f'store = torch_store.tcp_store("127.0.0.1", {port}, is_master=True,\n'
            '                              wait_for_workers=False)\n'
            'print(flush=True)\n'
            'sys.stdin.read()\n')
    with subprocess.Popen(['/usr/bin/python3', '-c', code], env=environment(),
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        try:
            yield process, f'127.0.0.1:{port}'
        finally:
            process.kill()


@pytest.mark.parametrize('sign', [
    signal.SIGKILL, pytest.param(signal.SIGSTOP, marks=pytest.mark.slow)])
def test_a_store_that_goes_away(tmp_path, sign):
    """Killed, its host says so; stopped, nobody says anything."""
    with serving() as address, storing() as (store, place), running(
            tmp_path, 2, ['one_is_late', '40'], address, STORE=place, TIMEOUT='300',
            NETFC_SILENCE='3') as processes:
        for process in processes:
            process.stdout.readline()
        store.send_signal(sign)
        one = last_line(processes[0])
    assert 'store of the process group does not answer' in one['error']
    assert one['seconds'] < 25


def test_a_rank_that_does_not_come_is_named(tmp_path):
    told = failures(tmp_path, 3, 'alone', present=2, TIMEOUT='3')
    for text in told:
        assert text.endswith('missing: rank 2')


def test_a_rank_that_does_not_come_to_rank_0s_store_is_named(tmp_path):
    """It waits for all before rank 0 does anything else: as long as the others wait for rank 0,
    which may therefore come just before they give up."""
    told = failures(tmp_path, 3, 'alone', present=2, TIMEOUT='4', STORE=f'tcp://127.0.0.1:{free_port()}')
    # torch 2.6 gives up in the store's constructor, and only counts who has come.
    assert told[0].endswith(('missing: rank 2', '2/3 clients joined.'))
    assert told[1].endswith(('missing: rank 2; rank 0 waits in the store that it has',
                             'missing: rank 2'))


def test_no_switch_there(tmp_path):
    told = failures(tmp_path, 2, 'alone', address='127.0.0.1:9', SWITCHES='127.0.0.1:9')
    for text in told:
        assert 'Nothing listens on UDP port 127.0.0.1:9' in text


def test_a_switch_that_goes_away(tmp_path):
    """The switch ends between two reductions."""
    with contextlib.ExitStack() as stack:
        with serving() as address:
            processes = stack.enter_context(
                running(tmp_path, 2, ['until_it_fails'], address, TIMEOUT='6'))
            for process in processes:
                process.stdout.readline()
        told = [last_line(process) for process in processes]
    for one in told:
        assert 'Nothing listens' in one['error'] or 'has not answered' in one['error'], one


def test_groups_go_on_after_the_switch_was_started_anew(tmp_path):
    """All ranks at their next call; it has to be the same, and all have to make one."""
    port = free_port()
    with contextlib.ExitStack() as stack:
        with serving(port=port) as address:
            processes = stack.enter_context(running(tmp_path, 3, ['go_on'], address, TIMEOUT='60'))
            lines = [process.stdout.readline() for process in processes]
        for number in (1, 2):
            assert lines == ['\n'] * 3, [process.communicate() for process in processes]
            with serving(port=port):
                (tmp_path / f'store.{number}').touch()
                lines = [process.stdout.readline() for process in processes]
        told = [(json.loads(line), process.communicate()[1])
                for line, process in zip(lines, processes)]
    for rank, (one, errors) in enumerate(told):
        assert 'result' in one, (one, errors)
        before, lost, again, differ, missed, count = one['result']
        assert before == [[3.0] * 3] * 3 + [[3.0] * 2], errors
        assert all('does not know job' in text or 'Another rank has failed' in text for text in lost)
        assert again == [[3.0] * 3, [3.0] * 3, [3.0] * 2, 3, [3.0] * 3], errors
        for text in differ:
            assert 'barrier 3, the first after the switch' in text or 'all_reduce 3, the' in text
            assert 'rank 0 (' in text and ' with all_reduce 3, rank 1 (' in text
            assert ' with barrier 3, rank 2 (' in text
        assert missed[0] == missed[1] and count == 1
        assert rank != 0 or 'within the timeout of 4 s; missing: rank 1, rank 2' in missed[0]


@pytest.mark.parametrize('passed', [0, 1], ids=['all have joined', 'all know that they have'])
def test_a_switch_that_restarts_at_the_first_join(tmp_path, passed):
    """Before all have joined: they do. Before one knows that all have: nobody waits longer than for a join."""
    with first_joins.Restarting(3, passed) as restarting, running(
            tmp_path, 3, ['one_is_late', '0'], restarting.address, TIMEOUT='60', NETFC_JOIN_TIMEOUT='5'
            ) as processes:
        restarting.restart()
        told = [last_line(process) for process in processes]
    if passed == 0:
        assert [one.get('result') for one in told] == [[3.0] * 5] * 3, told
        return
    assert sum('Not all 3 workers have joined' in one['error'].splitlines()[0] for one in told) == 1, told
    assert all('Not all 3 workers have joined' in one['error'] and one['seconds'] < 50 for one in told), told


def test_a_switch_that_is_started_anew_while_a_group_goes_on(tmp_path):
    """Twice, while two ranks wait for the third; then it is not there when all go on."""
    port = free_port()
    with contextlib.ExitStack() as stack:
        with serving(port=port) as address:
            processes = stack.enter_context(
                running(tmp_path, 3, ['go_on_through_restarts'], address, TIMEOUT='60',
                        NETFC_SILENCE='3', NETFC_JOIN_TIMEOUT='3'))
            lines = [process.stdout.readline() for process in processes]
        with serving(port=port):
            (tmp_path / 'store.1').touch()
            lines.append(processes[1].stdout.readline())
        with serving(port=port):
            pass
        with serving(port=port):
            (tmp_path / 'store.2').touch()
            lines += [process.stdout.readline() for process in processes]
        (tmp_path / 'store.3').touch()
        lines += [process.stdout.readline() for process in processes]
        with serving(port=port):
            (tmp_path / 'store.4').touch()
            told = [last_line(process) for process in processes]
    assert lines == ['\n'] * 10, told
    for one in told:
        said, seconds = zip(*one['result'])
        assert [said[call] for call in (0, 2, 5)] == [[3.0] * 3] * 3, one
        assert 'does not know job' in said[1] or 'Another rank has failed' in said[1], one
        for text in said[3:5]:
            assert f'127.0.0.1:{port}' in text, one
        assert max(seconds) < 60, one


def test_a_switch_that_is_silent(tmp_path):
    """Its host is gone, and nobody says so: noticed long before the time-out."""
    with silencing() as (servers, address), running(
            tmp_path, 2, ['until_it_fails'], address, TIMEOUT='300', NETFC_SILENCE='3'
            ) as processes:
        for process in processes:
            process.stdout.readline()
        servers[1].send_signal(signal.SIGSTOP)
        told = [last_line(process) for process in processes]
    for one in told:
        assert f'Switch {address.split(",")[1]} has not answered' in one['error']
        assert one['seconds'] < 25


@contextlib.contextmanager
def silencing():
    """Two servers: their processes, and their addresses with a comma."""
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(subprocess.Popen(
            [SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)) for _ in range(2)]
        for server in servers:
            stack.callback(server.kill)
        yield servers, ','.join('127.0.0.1:' + server.stdout.readline().strip()
                                for server in servers)


def test_ranks_wait_while_the_switch_is_full(tmp_path):
    with serving(slots=128) as address:
        holder = joined(address, 0, 1, job=7)
        with running(tmp_path, 2, ['one_is_late', '0'], address, TIMEOUT='60') as processes:
            assert not processes[0].has_ended(6)
            holder.leave()
            told = [last_line(process) for process in processes]
    assert [one['result'] for one in told] == [[2.0] * 5] * 2


def test_a_switch_that_stays_full(tmp_path):
    with serving(slots=128) as address, joined(address, 0, 1, job=7):
        told = failures(tmp_path, 2, 'alone', address=address, NETFC_JOIN_TIMEOUT='4')
    for text in told:
        assert 'has no slot left' in text and 'rank 1 (' in text


@pytest.mark.parametrize('name, value', [
    ('NETFC_JOB', 'x'), ('NETFC_JOB', '70000'), ('NETFC_JOB', '9-8'), ('NETFC_SLOTS', '-1'),
    ('NETFC_CHUNK_BYTES', '1 KB'), ('NETFC_SILENCE', '0'), ('NETFC_LOCAL', 'yes')])
def test_variables_that_make_no_sense(tmp_path, name, value):
    text, = failures(tmp_path, 1, 'alone', address='127.0.0.1:9', **{name: value})
    assert f"{name} is '{value}'" in text


@pytest.mark.parametrize('value', ['x', '-1', '0x', '0x10000000000000000'])
def test_a_token_that_is_none(tmp_path, value):
    """It may be one nearly: it is not repeated where others could read it."""
    text, = failures(tmp_path, 1, 'alone', address='127.0.0.1:9', NETFC_TOKEN=value)
    assert 'NETFC_TOKEN is not a 64-bit number' in text and value not in text.replace('0x12', '')
