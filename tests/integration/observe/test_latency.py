# SPDX-License-Identifier: BSD-3-Clause
"""How long packets take: --latency, and that none waits for others."""

import frames
import switch

from netfc.telemetry import Telemetry

BUCKETS = [*(str(int(step * 10**power)) for power in range(2, 9) for step in (1, 1.5, 2, 3, 5, 7)),
           str(10**9), 'more']
SHARES = ('least', 'p50', 'p90', 'p99', 'p99_9', 'greatest')


def assert_consistent(latency, packets):
    """Fails unless a histogram holds that many packets, in order."""
    assert latency['count'] == packets == sum(latency['buckets_ns'].values())
    values = [latency[name] for name in SHARES]
    assert 0 < values[0] and values == sorted(values)
    assert latency['least'] <= latency['mean'] <= latency['greatest']
    assert latency['mean'] == latency['sum'] // packets
    assert list(latency['buckets_ns']) == BUCKETS
    assert latency['tsc_hz'] > 1e6


def test_every_packet_is_counted():
    requests = [frames.plain_frame(frames.lanes(count)) for count in range(1, 201)]
    stats = switch.run([requests, []], options=['--latency']).stats
    assert_consistent(stats['latency'], len(requests))


def test_lcores_are_summed():
    requests = [frames.plain_frame(frames.request())] * 100
    stats = switch.run([requests, requests[:30]], options=['--latency'], lcores=2).stats
    assert_consistent(stats['latency'], 130)


def test_nothing_was_received():
    latency = switch.run([[], []], options=['--latency']).stats['latency']
    assert latency['count'] == 0 and latency['buckets_ns'] == dict.fromkeys(BUCKETS, 0)


def test_off_unless_asked_for():
    assert 'latency' not in switch.run([[frames.plain_frame(frames.request())]]).stats


def test_a_lone_packet_does_not_wait():
    """It has left, and was timed, by the end of the poll that brought it: no other packet comes,
    and the switch has nothing that sends later."""
    stats = switch.run([[frames.plain_frame(frames.request())]], options=['--latency']).stats
    assert stats['busy_polls'] == 1 and stats['tx_packets'] == 1
    assert_consistent(stats['latency'], 1)
    assert stats['latency']['greatest'] / stats['latency']['tsc_hz'] < stats['seconds']


def test_telemetry_shows_it(tmp_path):
    live = switch.Running(tmp_path, [frames.plain_frame(frames.request())] * 64,
                          ['--match', 'direct', '--latency'], telemetry=True)
    live.wait_until_busy()
    with Telemetry(live.telemetry_path) as telemetry:
        latency = telemetry.ask('/netfc/latency')
    assert list(latency['buckets_ns']) == BUCKETS and latency['count'] >= 64
    status, _, final = live.stop()
    assert status == 0 and final['latency']['count'] >= latency['count']


def test_it_is_printed_for_people(tmp_path):
    switch.write_capture(tmp_path / 'in', [frames.plain_frame(frames.request())])
    vdevs = [f'net_pcap0,rx_pcap={tmp_path}/in']
    done = switch.execute([*switch.eal_options(vdevs), '--', '--latency', '--match', 'direct',
                           '--idle-exit', '20'])
    assert done.returncode == 0, done.stderr
    assert 'from receive to transmit burst, us: least ' in done.stdout
