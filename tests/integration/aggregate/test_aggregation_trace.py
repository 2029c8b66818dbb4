# SPDX-License-Identifier: BSD-3-Clause
"""What telemetry's trace and a capture show of packets of aggregation.

A running switch: its telemetry and captures.
"""

import concurrent.futures
import socket

import aggregation_workers as workers
import controlled
from netfc.conformance import sums as exact_sums
import hosts
import numpy as np
import pcapng
import pytest

from netfc import aggregation
from netfc.telemetry import Telemetry

pytestmark = hosts.needs_namespaces
OPTIONS = ['--address', f'{hosts.SWITCH_IP}/24', '--aggregate']
VALUES = np.array([[1.5, -2.0, 3e38], [0.25, 2.0, 3e38]], '>f4')


def words(values):
    """As a trace shows them."""
    return [f'0x{word:08x}' for word in np.frombuffer(values, '>u4')]


def team_of_two(host):
    return [workers.Worker(host.udp(socket.AF_INET), hosts.SWITCH_IP, number, job=9)
            for number in range(2)]


class Tracer:
    """Asks for the next packet, and then has one sent, again and again until it is the one."""

    def __init__(self, live):
        self._telemetry = Telemetry(live.telemetry_path)
        self._pool = concurrent.futures.ThreadPoolExecutor(1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._pool.shutdown()
        self._telemetry.close()

    def of(self, send, **wanted):
        """The trace of what send() sends, again and again, with those fields."""
        while True:
            asked = self._pool.submit(self._telemetry.ask, '/netfc/trace')
            while not concurrent.futures.wait([asked], 0.02).done:
                send()
            shown = asked.result()  # of what was sent before, maybe
            if shown and all(shown[name] == value for name, value in wanted.items()):
                return shown


@pytest.fixture(name='running')
def running_switch(tmp_path):
    with hosts.at_tap(tmp_path, OPTIONS, telemetry=True) as (host, live):
        hosts.wait_until(live.telemetry_path.exists, 'the telemetry socket')
        yield host, live
        live.stop()


def test_a_chunk_and_its_result(running):
    host, live = running
    team = team_of_two(host)
    workers.join_all(team)
    team[0].send_chunk(0, VALUES[0].tobytes())
    with Tracer(live) as tracer:
        again = tracer.of(lambda: team[0].send_chunk(0, VALUES[0].tobytes()), op='sum')
        assert again['action'] in ('added', 'duplicate') and again['missing'] == [1]
        assert (again['op'], again['format'], again['values']) == ('sum', 'fp32', 3)
        assert (again['job'], again['worker'], again['id'], again['workers']) == (9, 0, 0, 2)
        assert again['x'] == words(VALUES[0].tobytes()) and 'z' not in again
        done = tracer.of(lambda: team[1].send_chunk(0, VALUES[1].tobytes()), worker=1)
    assert done['action'] in ('completed', 'repeated') and done['missing'] == []
    assert done['x'] == words(VALUES[1].tobytes())
    assert done['z'] == ['0x3fe00000', '0x00000000', '0x7f800000'] and done['flags'] == 4


@pytest.mark.parametrize('name, value', [('fp8_e4m3', '40'), ('fp64', '4008000000000000')])
def test_values_of_other_sizes(running, name, value):
    """As many as a packet holds, of which the first 256 are shown."""
    host, live = running
    team = team_of_two(host)
    workers.join_all(team)
    width = len(value) // 2
    count = 1448 // width
    with Tracer(live) as tracer:
        shown = tracer.of(lambda: team[0].send_chunk(0, bytes.fromhex(value) * count, form=name),
                          op='sum')
    assert (shown['format'], shown['values']) == (name, count)
    assert shown['x'] == [f'0x{value}'] * min(count, 256)


def test_a_copy_and_its_owner(running):
    host, live = running
    team = team_of_two(host)
    workers.join_all(team)
    owner, copy = aggregation.OWNER + 1, aggregation.OPS['copy']
    asks = aggregation.chunk(team[0].place, copy, 5, 0, b'', owner, count=3)
    gives = aggregation.chunk(team[1].place, copy, 5, 0, VALUES[1].tobytes(), owner)
    team[0].send(asks)
    with Tracer(live) as tracer:
        again = tracer.of(lambda: team[0].send(asks), op='copy')
        assert (again['owner'], again['values'], again['missing']) == (1, 3, [1])
        assert again['action'] in ('added', 'duplicate') and 'x' not in again
        done = tracer.of(lambda: team[1].send(gives), worker=1)
    assert done['action'] in ('completed', 'repeated') and done['x'] == words(VALUES[1].tobytes())
    result, acknowledged = team[0].receive(), team[1].receive()
    assert (result.rest, result.reason, result.count) == (VALUES[1].tobytes(), 0, 3)
    assert (acknowledged.rest, acknowledged.reason, acknowledged.count) == (b'', 2, 3)


def test_a_join_and_a_refusal(running):
    host, live = running
    worker, _ = team_of_two(host)
    with Tracer(live) as tracer:
        shown = tracer.of(lambda: worker.send_chunk(5, bytes(4)))
        assert (shown['action'], shown['reason'], shown['id']) == ('no_job', 'no-job', 5)
        assert 'missing' not in shown
        shown = tracer.of(lambda: worker.send(aggregation.join(worker.place, 2, 8, 1448)),
                          op='join')
    assert (shown['op'], shown['action'], shown['reason']) == ('join', 'cookie', 'cookie')


def test_digits_and_a_place_in_a_tree(running):
    host, live = running
    team = team_of_two(host)
    workers.join_all(team)
    sums = [(3 << 64, 0), (-1 << 32, exact_sums.MINUS_INF)]
    part = aggregation.read_part(exact_sums.part(sums, 2, 1, 2, 1, 3))
    place = aggregation.Place(((4, 2), (3, 1)), 600)
    with Tracer(live) as tracer:
        shown = tracer.of(lambda: team[0].send(
            aggregation.digits(team[0].place, 33, 5, 0, part, count=4)), op='sum')
        assert shown['digits'] == {'part': 1, 'parts': 2, 'first': 2, 'lanes': 2, 'lowest': 1,
                                   'width': 3, 'marks': True}
        assert shown['values'] == 4 and 'x' not in shown
        shown = tracer.of(lambda: team[0].send(
            aggregation.join(team[0].place, 2, 8, 1448, place=place)), op='join')
    assert shown['place'] == {'workers': 600, 'members': [4, 3], 'index': [2, 1]}


def test_a_capture_has_requests_and_results(tmp_path):
    with hosts.Host(0) as host, controlled.controlled(
            tmp_path, ['net_tap0,iface=eth0'], OPTIONS, namespace=host) as (live, control, _):
        live.wait_until_ready()
        host.configure()
        team = team_of_two(host)
        workers.join_all(team)
        control.do('capture', action='start', file=str(tmp_path / 'capture'))
        for worker, mine in zip(team, VALUES):
            worker.send_chunk(0, mine.tobytes())
        results = [worker.receive().rest for worker in team]
        control.do('capture', action='stop')
        live.stop()
    frames = [packet.frame for packet in pcapng.read(tmp_path / 'capture').packets
              if packet.frame[12:14] == b'\x08\x00']  # kernels look for IPv6 neighbours, too
    values = [frame[42 + aggregation.HEADER.size:][:VALUES[0].nbytes] for frame in frames]
    assert values == [mine.tobytes() for mine in VALUES] + results
