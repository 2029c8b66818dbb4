# SPDX-License-Identifier: BSD-3-Clause
"""The switch adds up what workers on UDP sockets send.

A running switch: its options, ports and counters; rules of slots and jobs are in tests/aggregate.
"""

import contextlib
import dataclasses
import random
import re
import socket

import numpy as np
import pytest

import aggregation_workers as workers
import hosts
import switch
from netfc import aggregation

SWITCH_IP, SWITCH_IP6 = hosts.SWITCH_IP, hosts.SWITCH_IP6
ADDRESSES = ['--address', f'{SWITCH_IP}/24', '--address', f'{SWITCH_IP6}/64']
FAMILIES = {'IPv4': (socket.AF_INET, SWITCH_IP), 'IPv6': (socket.AF_INET6, SWITCH_IP6)}
VALUES = 357  # binary32 that a packet of 1,500 bytes holds over IPv6

pytestmark = hosts.needs_namespaces


def aggregating(folder, option='--aggregate', addresses=(), **more):
    """A host whose interface is a TAP port of a switch that aggregates."""
    return hosts.at_tap(folder, [*(addresses or ADDRESSES), *([option] if option else [])], **more)


def make_workers(host, count, family='IPv4', **place):
    kind, address = FAMILIES[family]
    return [workers.Worker(host.udp(kind), address, number, **place) for number in range(count)]


@contextlib.contextmanager
def joined(folder, count, option='--aggregate', *, family='IPv4', **more):
    """Workers of a job, who have joined it; their host; and the switch."""
    with aggregating(folder, option, **more) as (host, live):
        team = make_workers(host, count, family)
        workers.join_all(team)
        yield team, host, live


def reduce(team, number, values):
    """All get the exact sum."""
    for worker, mine in zip(team, values):
        worker.send_chunk(number, mine.tobytes())
    assert all(worker.receive().rest == workers.exact_sum(values) for worker in team)


def gradients(count, seed=1):
    """Binary32 values as training has them, and some that cancel; shape (count, VALUES)."""
    draw = np.random.default_rng(seed)
    values = (draw.standard_normal((count, VALUES)) * 10.0 ** draw.integers(-6, 6, VALUES)).astype(
        '>f4')
    values[-1, ::7] = -values[0, ::7]
    return values


def send_in_any_order(team, number, values, seed):
    order = list(range(len(team)))
    random.Random(seed).shuffle(order)
    for w in order:
        team[w].send_chunk(number, values[w].tobytes())


@pytest.mark.parametrize('family', FAMILIES)
@pytest.mark.parametrize('shards', [1, 2])
def test_sums_are_exact_and_go_to_all(tmp_path, family, shards):
    with joined(tmp_path, 4, f'--aggregate=shards={shards}', lcores=shards, family=family) as (team, _, live):
        for number in range(40):
            values = gradients(4, seed=number)
            send_in_any_order(team, number, values, seed=number)
            exact = workers.exact_sum(values)
            for worker in team:
                reply = worker.receive()
                assert (reply.code, reply.id, reply.worker) == (0, number, worker.place.number)
                assert reply.rest == exact
        assert all(worker.leave().code == 0 for worker in team)
        stats = live.stop()
    table = stats['aggregate']
    if f'(shards: {shards}' in live.stdout:  # rules that the kernel has taken
        assert table['handed_over'] == 0
    assert table['completed'] == 40 and table['added'] == 120
    assert table['values'] == 4 * 40 * VALUES
    assert table['jobs'] == 0 and table['jobs_ended'] == 1
    assert stats['taken_up']['aggregated'] == 120


def test_a_repeated_chunk_is_answered_from_the_stored_result(tmp_path):
    with joined(tmp_path, 2) as (team, _, live):
        values = gradients(2)
        team[0].send_chunk(0, values[0].tobytes())
        team[0].send_chunk(0, values[0].tobytes())  # once more: not added twice
        team[1].send_chunk(0, values[1].tobytes())
        first = [worker.receive() for worker in team]
        team[1].send_chunk(0, values[1].tobytes())  # its reply was lost
        assert team[1].receive() == first[1]
        assert first[0].rest == first[1].rest == workers.exact_sum(values)
        stats = live.stop()
    assert stats['aggregate']['duplicate'] == 1 and stats['aggregate']['repeated'] == 1
    assert stats['taken_up']['aggregate_repeated'] == 1


def test_two_jobs_do_not_mix(tmp_path):
    with aggregating(tmp_path) as (host, live):
        teams = [make_workers(host, 2, job=job, token=job) for job in (7, 8)]
        for team in teams:
            workers.join_all(team)
        values = [gradients(2, seed) for seed in (1, 2)]
        for w in range(2):
            for team, of_team in zip(teams, values):
                team[w].send_chunk(0, of_team[w].tobytes())
        for team, of_team in zip(teams, values):
            assert all(worker.receive().rest == workers.exact_sum(of_team) for worker in team)
        live.stop()


def test_what_is_denied_is_dropped_by_name_and_harms_nobody(tmp_path):
    with joined(tmp_path, 2) as (team, host, live):
        values = gradients(2)
        stranger = workers.Worker(host.udp(), SWITCH_IP, 5)
        stranger.place = dataclasses.replace(stranger.place, session=team[0].place.session)
        stranger.send_chunk(0, values[1].tobytes())
        host.ip('address', 'add', '10.1.0.77/24', 'dev', 'eth0')
        elsewhere = host.socket(socket.AF_INET, socket.SOCK_DGRAM)
        elsewhere.bind(('10.1.0.77', 0))
        intruder = workers.Worker(elsewhere, SWITCH_IP, 1)
        intruder.send_chunk(0, values[0].tobytes())  # the token is no session
        intruder.place = team[1].place
        intruder.send_chunk(0, values[0].tobytes())
        reduce(team, 0, values)
        stats = live.stop()
    table = stats['aggregate']
    assert (table['stale_session'], table['unknown_worker'], table['wrong_address']) == (1, 1, 1)
    assert stats['drops']['aggregate_denied'] == 3


def test_a_chunk_of_an_earlier_job_is_not_added(tmp_path):
    """The same number and token, other sums: whatever the network held back is none of them."""
    with joined(tmp_path, 2) as (team, _, live):
        early = team[0].place
        assert all(worker.leave().code == 0 for worker in team)
        workers.join_all(team)
        assert team[0].place.session not in (early.session, early.token)
        late = aggregation.chunk(early, aggregation.OPS['sum'], 5, 0, bytes(4 * VALUES))
        assert team[0].ask(late).name == 'no-job'
        values = gradients(2)
        reduce(team, 0, values)
        stats = live.stop()
    assert stats['aggregate']['no_job'] == 1 and stats['aggregate']['added'] == 1


def test_one_address_begins_a_few_jobs_only(tmp_path):
    with aggregating(tmp_path, '--aggregate=per_address=2') as (host, live):
        begun = [make_workers(host, 2, job=job) for job in range(3)]
        assert [first.join(2).name for first, _ in begun] == ['waiting'] * 3
        hosts.wait_until(lambda: begun[2][0].join(1).code == 0, 'those begun to have ended')
        assert live.stop()['aggregate']['jobs_made'] == 3


def reasons_of(host, team):
    """What the switch says to each wrong request, by name."""
    far = team[0].slots * 2
    chunk = aggregation.chunk
    place, fp32, total = team[0].place, 5, aggregation.OPS['sum']
    other = aggregation.Worker(99, place.token, 0)
    yield 'no-job', team[0].ask(chunk(other, total, fp32, 0, bytes(4)))
    yield 'window', team[0].ask(chunk(place, total, fp32, far, bytes(4)))
    yield 'mismatch', team[0].ask(chunk(place, total, fp32, 0, bytes(1028)))
    team[0].send_chunk(0, bytes(8))
    yield 'mismatch', team[1].ask(chunk(team[1].place, total, fp32, 0, bytes(4)))
    yield 'mismatch', workers.Worker(host.udp(), SWITCH_IP, 0).join(3)
    asked = workers.Worker(host.udp(), SWITCH_IP, 0, job=2)
    yield 'full', asked.join(2)
    yield 'taken', workers.Worker(host.udp(), SWITCH_IP, 0, token=99).join(2)


def test_reasons(tmp_path):
    with aggregating(tmp_path, '--aggregate=jobs=1,bytes=1024') as (host, live):
        team = make_workers(host, 2)
        assert team[0].join(2).name == 'waiting'
        workers.join_all(team)
        for expected, reply in reasons_of(host, team):
            assert (reply.code, reply.name) == (7, expected)
        assert live.stop()['aggregate']['wrong_token'] == 1


def test_a_silent_worker_is_named(tmp_path):
    with joined(tmp_path, 3, '--aggregate=stall=1') as (team, _, live):
        hears(team[0], 'silent 1')
        team[2].send_chunk(0, bytes(4))
        hears(team[0], 'silent 1')
        live.stop()


def hears(worker, name, meanwhile=lambda: None):
    """Sends its chunk again until the switch says so."""
    def said():
        meanwhile()
        worker.send_chunk(0, bytes(4))
        with contextlib.suppress(TimeoutError):
            return worker.receive().name == name
        return False

    worker.socket.settimeout(0.1)
    hosts.wait_until(said, f'"{name}"')


def test_a_process_started_anew_at_the_same_port(tmp_path):
    """Hundreds of them: refused, or waiting for the next job; no result of an earlier call."""
    with aggregating(tmp_path, '--aggregate=stall=100000') as (host, live):
        team, bystanders = make_workers(host, 2), make_workers(host, 2, job=2)
        workers.join_all(bystanders)
        for time in range(300):
            workers.join_all(team)
            for number in range(2):
                for worker in team:
                    worker.send_chunk(number, bytes(4))
                assert {worker.receive().code for worker in team} == {0}
            anew = dataclasses.replace(team[1].place, incarnation=time + 2, session=0)
            cookie = team[1].ask(aggregation.join(anew, 2, 8, 1448)).granted[5]
            assert team[1].ask(aggregation.join(anew, 2, 8, 1448, cookie)).name == 'taken'
            assert team[1].ask(aggregation.join(anew, 2, 8, 1448, cookie)).name == 'waiting'
            team[0].send_chunk(2, bytes(4))
            assert team[0].receive().name == 'failed 1'
            team[0].leave()
            team[0].cookie = team[1].cookie = 0
            team[1].place = anew
        workers.join_all(bystanders)  # their job goes on
        assert live.stop()['aggregate']['taken'] == 300


def test_a_worker_that_is_alive_is_late(tmp_path):
    with joined(tmp_path, 2, '--aggregate=stall=1') as (team, _, live):
        alive = aggregation.join(team[1].place, 2, 8, 1448, team[1].place.session)
        hears(team[0], 'late 1', lambda: team[1].send(alive))
        reply = team[1].receive()
        assert (reply.code, reply.granted[5]) == (0, team[1].place.session)
        live.stop()


@pytest.mark.parametrize('leaving, told', [
    (0, ('left 1', 1)), (4, ('failed 1', 4)), (9, ('failed 1', 9)), (64, ('silent 0', 1)),
    (64 + 1, ('silent 1', 1))])
def test_who_left_or_failed_is_named_at_once(tmp_path, leaving, told):
    """Long before the switch would look for who is missing."""
    with joined(tmp_path, 3, '--aggregate=stall=100000') as (team, _, live):
        assert team[1].leave(leaving).code == 0
        team[2].send_chunk(0, bytes(4))
        reply = team[2].receive()
        assert (reply.name, reply.rest[1]) == told
        live.stop()


@pytest.mark.parametrize('family', FAMILIES)
def test_results_to_a_port_that_nobody_listens_on(tmp_path, family):
    """ICMP comes back, is dropped by name, and harms neither its job nor others."""
    with aggregating(tmp_path) as (host, live):
        team, others = make_workers(host, 2, family), make_workers(host, 2, family, job=2)
        workers.join_all(team)
        workers.join_all(others)
        values = gradients(2)
        team[0].send_chunk(0, values[0].tobytes())
        team[0].socket.close()
        for again in range(4):  # the others' results go to the closed port, too
            team[1].send_chunk(0, values[1].tobytes())
            assert team[1].receive().rest == workers.exact_sum(values)
            reduce(others, again, values)
        stats = live.stop()
    assert stats['aggregate']['completed'] == 5 and stats['aggregate']['repeated'] == 3
    assert stats['drops']['no_service'] == 1


def test_a_job_ends_when_nothing_comes_of_it(tmp_path):
    with aggregating(tmp_path, '--aggregate=idle=1,jobs=1') as (host, live):
        workers.join_all(make_workers(host, 2, job=1))
        late, = make_workers(host, 1, job=2)
        hosts.wait_until(lambda: late.join(1).code == 0, 'the place of the first job')
        stats = live.stop()
    assert stats['aggregate']['jobs_timed_out'] == 1


def test_without_aggregate_a_request_is_told_so(tmp_path):
    with aggregating(tmp_path, option=None) as (host, live):
        worker, = make_workers(host, 1)
        reply = worker.ask(aggregation.join(worker.place, 1, 1, 4))
        assert (reply.code, reply.reason) == (7, 1)
        live.stop()


@pytest.mark.parametrize('option, said', [
    ('jobs=0', "--aggregate jobs '0': expected a number from 1 to 1024"),
    ('per_address=0', "--aggregate per_address '0': expected a number from 1 to 1024"),
    ('bytes=8952', "--aggregate bytes '8952': expected a number from 4 to 8948"),
    ('slot=4', "--aggregate 'slot': unknown key; known keys: jobs, slots,"),
    ('jobs', "--aggregate 'jobs': expected KEY=VALUE"),
    ('port=20038', 'UDP port 20038 is that of requests'),
    ('port=65535,shards=2', 'the last port is 65535'),
    ('shards=2', '--aggregate shards=2: there are lcores'),
])
def test_wrong_options(option, said):
    done = start([*ADDRESSES, '--aggregate', option])
    assert done.returncode == 1 and said in done.stderr, done.stderr


@pytest.mark.parametrize('options, said', [
    (['--aggregate', 'slots=2048'], r'no memory for 2048 slots.*give the EAL -m (\d+), or ask'),
    (['--match', 'fpu', '--mbufs', '400000'],
     r'cannot make 400000 packet buffers.*give the EAL more memory \(-m (\d+);')])
def test_too_little_memory(options, said):
    """With the memory that the message asks for, it starts."""
    asked = [*ADDRESSES, *options, '--idle-exit', '1']
    done = start(asked)
    assert done.returncode == 1, done.stderr
    megabytes, = re.findall(said, done.stderr)
    assert start(asked, memory=int(megabytes)).returncode == 0


def start(options, **eal):
    """A switch on a port that receives nothing; most of these should not start."""
    return switch.execute([*switch.eal_options(['net_null0,no-rx=1'], **eal), '--', *options])


@pytest.mark.parametrize('port, said', [
    (65535, '2 shards from UDP port 65535 on: the last port is 65535'),
    (20037, 'UDP port 20038 is that of requests')])
def test_each_lcore_has_a_port(port, said):
    """How many shards there are is known only when the lcores are."""
    done = switch.execute([*switch.eal_options(['net_null0,no-rx=1'], lcores=2), '--', *ADDRESSES,
                           '--aggregate', f'port={port}'])
    assert done.returncode == 1 and said in done.stderr, done.stderr


def test_an_address_is_needed():
    done = start(['--aggregate'])
    assert done.returncode == 1 and 'needs an address' in done.stderr
