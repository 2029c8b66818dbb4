# SPDX-License-Identifier: BSD-3-Clause
"""Chunks and results of zeros: exact sums that cost what they hold, for all who know them, and as ever for others.

A running switch and libnetfc-allreduce, or workers on sockets that know zeros or do not; the rules are in tests/aggregate.
"""

import dataclasses

import numpy as np
import pytest

import aggregation_workers as workers
import hosts
import sanitized
from test_allreduce_switch import aggregating, communicator, in_threads
from tree_network import Tree, join_all, reduce

from netfc import aggregation

LANES = 360  # of fp32 in a chunk, with or without a tag
CHUNKS = 200
HEADER = aggregation.HEADER.size
ROUNDED, ZEROS = 0, 3

pytestmark = hosts.needs_namespaces
needs_library = pytest.mark.skipif(
    sanitized.is_sanitized(), reason='the client in this process and the switch need different environments')


def bytes_on_link(host):
    """To the switch and back."""
    with host.entered():
        lines = open('/proc/net/dev', encoding='ascii').read().splitlines()
    fields = next(line for line in lines if line.strip().startswith('eth0:')).split(':')[1].split()
    return int(fields[0]) + int(fields[8])


def sparse(count, filled):
    """Values of each worker: a few chunks have some, others none; some have zeros of both signs alone."""
    draw = np.random.default_rng(filled)
    values = np.zeros((count, CHUNKS, LANES), 'f4')
    for chunk in draw.choice(CHUNKS - 4, filled, replace=False):
        values[draw.integers(count), chunk] = draw.standard_normal(LANES)
    values[0, -1] = values[:, -2] = -0.0
    return values.reshape(count, -1)


@needs_library
@pytest.mark.parametrize('shards', [1, 2])
@pytest.mark.parametrize('keyed', [False, True], ids=['no key', 'key'])
def test_sparse_sums_are_exact_and_cost_what_they_hold(tmp_path, shards, keyed):
    key = tmp_path / 'key'
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    values, filled = sparse(3, 10), 10

    def work(rank, mine):
        with communicator(rank, 3, chunk_bytes=4 * LANES, **({'key_file': key} if keyed else {})) as comm:
            comm.allreduce(mine)
        return mine

    def cost_of(given):
        before = bytes_on_link(host)
        results = in_threads(host, 3, lambda rank: work(rank, given[rank].copy()))
        return results, bytes_on_link(host) - before

    option = f'--aggregate=shards={shards}' + (f',key={key}' if keyed else '')
    with aggregating(tmp_path, option, lcores=shards) as (host, live):
        results, few = cost_of(values)
        _, many = cost_of(np.where(values == 0, np.float32(1), values))
        stats = live.stop()
    exact = np.frombuffer(workers.exact_sum(values), '>f4').astype('f4')
    exact[-2 * LANES:-LANES] = -0.0  # of nothing but these
    for result in results:
        assert np.array_equal(result.view('u4'), exact.view('u4'))
    # All chunks of the first job but the filled ones, and those of -0, one worker's and all three's.
    assert stats['aggregate']['zeros'] == 3 * CHUNKS - filled - 4
    assert few < many / 4


class Knowing(workers.Worker):
    """A worker that asks for zeros, or not."""

    def __init__(self, *args, features):
        super().__init__(*args)
        self.features, self.granted = features, None

    def join(self, workers_, slots=8, chunk_bytes=1448):
        reply = self.ask(aggregation.join(self.place, workers_, slots, chunk_bytes, self.cookie,
                                          features=self.features))
        if reply.reason == 8 and reply.code:
            self.cookie = reply.granted[5]
            return self.join(workers_, slots, chunk_bytes)
        if reply.code == 0:
            _, self.shards, self.slots, *_ = reply.granted
            self.granted = reply.reason
            self.place = dataclasses.replace(self.place, session=reply.granted[5])
        return reply

    def send_zeros(self, number, count, op='sum', form='fp32'):
        self.send(aggregation.zeros(self.place, aggregation.OPS[op], aggregation.FORMAT_IDS[form], number, count))


@pytest.mark.parametrize('asking', [(True, True), (True, False), (False, False)], ids=['all', 'one', 'none'])
def test_results_are_as_all_members_can_read_them(tmp_path, asking):
    every = all(asking)
    with aggregating(tmp_path) as (host, live):
        team = [Knowing(host.udp(), hosts.SWITCH_IP, number,
                        features=aggregation.LABELS | (aggregation.ZEROS if asks else 0))
                for number, asks in enumerate(asking)]
        workers.join_all(team)
        assert {member.granted for member in team} == {
            aggregation.LABELS | (aggregation.ZEROS if every else 0)}
        team[0].send_zeros(0, 3)  # whoever sends it: it is three values
        team[1].send_chunk(0, bytes(12))
        for member in team:
            reply = member.receive()
            assert (reply.code, reply.reason, reply.count) == (0, ZEROS if every else ROUNDED, 3)
            assert reply.rest == (b'' if every else bytes(12))
        team[0].send_chunk(0, bytes(12))  # asked for again, with values
        assert team[0].receive().rest == (b'' if every else bytes(12))
        # One, and a zero that comes last, in a packet that its result does not fit into.
        team[1].send_chunk(1, b'\x3f\x80\0\0' * 3)
        team[0].send_zeros(1, 3)
        assert [member.receive().rest for member in team] == [b'\x3f\x80\0\0' * 3] * 2
        assert live.stop()['aggregate']['zeros'] == 2


def test_headers_that_lie_are_refused_and_counted(tmp_path):
    with aggregating(tmp_path) as (host, live):
        team = [Knowing(host.udp(), hosts.SWITCH_IP, number, features=aggregation.ZEROS) for number in range(2)]
        workers.join_all(team)
        good = aggregation.zeros(team[0].place, 33, 5, 0, 3)
        more = team[0].ask(good + bytes(4))
        unmarked = team[0].ask(good[:5] + b'\0' + good[6:])
        nothing = team[0].ask(good[:6] + b'\0\0' + good[8:])
        large = team[0].ask(good[:6] + b'\xff\xff' + good[8:])
        assert [reply.code for reply in (more, unmarked, nothing)] == [4] * 3
        assert (large.code, large.name, large.rest) == (aggregation.CODE, 'mismatch', b'')
        stats = live.stop()['aggregate']
    assert stats['refused']['length'] == 3 and stats['too_large'] == 1 and stats['zeros'] == 0


@pytest.mark.parametrize('form', ['fp32', 'posit16', 'fp8_e4m3:fp16', 'int64'])
def test_a_tree_passes_zeros_up_and_down(tmp_path, form):
    """As few bytes as at the workers: a header up, a header down."""
    size = aggregation.value_bytes(aggregation.FORMAT_IDS[form])
    one = b'\1'.rjust(size, b'\0')
    with Tree(tmp_path) as tree:
        team = tree.team(of_each=2)
        for member in team:
            member.features = aggregation.ZEROS
        join_all(team)
        count = 24
        nothing = reduce(team, 0, [bytes(count * size)] * 4, 'sum', form)
        assert {(reply.reason, reply.count, reply.rest) for reply in nothing} == {(ZEROS, count, b'')}
        # A leaf has values and the other none; the least and the greatest, too.
        values = [one * count, bytes(count * size), bytes(count * size), bytes(count * size)]
        got = reduce(team, 1, values, 'sum', form)
        assert len({reply.rest for reply in got}) == 1 and {reply.reason for reply in got} == {ROUNDED}
        if form.count(':') == 0:
            least, greatest = reduce(team, 2, values, 'min', form), reduce(team, 3, values, 'max', form)
            assert {(reply.reason, reply.rest) for reply in least} == {(ZEROS, b'')}
            assert {(reply.reason, reply.rest) for reply in greatest} == {(ROUNDED, one * count)}
        root, leaves = tree.stop()
    assert root['aggregate']['zeros'] >= 2
    assert [leaf['aggregate']['zeros'] > 0 for leaf in leaves] == [True, True]

