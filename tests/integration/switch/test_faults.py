# SPDX-License-Identifier: BSD-3-Clause
"""Faults that a switch which runs for weeks will meet, one after the other."""

import contextlib
import itertools
import json
import random
import re
import signal
import subprocess
import time

import pytest

import frames
import hosts
import project_scripts
import sanitized
import switch
from disks import small_disk
from leaping_clock import LeapingClock
from needs import needs_mounts, needs_program
from processes import MESSAGES, exchange, replies, requests, vhost_connected

from netfc.telemetry import Telemetry

START_STEPS = 16  # moments of the start at which a signal comes
STEP_S = 0.03
FLOOD = 20000


# ---- the start -------------------------------------------------------------------------------


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGINT], ids=['SIGTERM', 'SIGINT'])
def test_a_signal_at_any_moment_of_the_start(tmp_path, number):
    """The switch ends with status 0 and whole statistics, or as the signal says, before it has
    begun to handle signals; and it leaves no socket behind that would be in the way."""
    sent = [frames.plain_frame(frames.request())]
    control = switch.RUNTIME / f'control-{next(hosts.numbers)}'
    ended = []
    for step in range(START_STEPS):
        folder = tmp_path / str(step)
        folder.mkdir()
        live = switch.Running(folder, sent, ['--match', 'direct', '--control', str(control)])
        time.sleep(step * STEP_S)
        live.process.send_signal(number)
        _, stderr = live.process.communicate(timeout=switch.TIMEOUT_S)
        switch.assert_sane(stderr)
        assert live.process.returncode in (0, -number), (step, stderr)
        if live.process.returncode == 0:
            assert switch.read_stats(live.stats_path)['mbufs_leaked'] == 0
            assert not control.exists()
        ended.append(live.process.returncode)
    assert 0 in ended


def test_killed_and_started_again_at_once(tmp_path):
    """What a killed switch leaves behind, with the same file prefix, is in nobody's way."""
    sent = [frames.plain_frame(frames.request())]
    control = switch.RUNTIME / f'control-{next(hosts.numbers)}'
    eal = switch.eal_options([f'net_pcap0,rx_pcap={tmp_path}/in,infinite_rx=1'], telemetry=True)
    switch.write_capture(tmp_path / 'in', sent)
    options = ['--match', 'direct', '--control', control, '--stats-json', tmp_path / 'stats']
    for last in (False, False, True):
        process = subprocess.Popen([switch.PROGRAM, *eal, '--', *map(str, options)], text=True,
                                   env=switch.ENVIRONMENT, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for line in iter(process.stdout.readline, ''):
            if line.startswith('  lcore'):
                break
        time.sleep(0.2)
        assert process.poll() is None, process.stderr.read()
        process.send_signal(signal.SIGTERM if last else signal.SIGKILL)
        process.communicate(timeout=switch.TIMEOUT_S)
    assert process.returncode == 0
    assert switch.read_stats(tmp_path / 'stats')['rx_packets'] > 0


# ---- files -----------------------------------------------------------------------------------


@needs_mounts
def test_a_full_disk_for_statistics(tmp_path):
    """Said, with exit status 2, and nothing half written; the packets have passed."""
    disk = tmp_path / 'disk'
    sent = requests(50)
    switch.write_capture(tmp_path / 'in', sent)
    vdev = f'net_pcap0,rx_pcap={tmp_path}/in,tx_pcap={tmp_path}/out'
    with small_disk(disk) as inside:
        fill = f'head -c 1M /dev/zero >{disk}/full; exec "$@"'
        done = subprocess.run(
            [*inside, 'sh', '-c', fill, 'sh', switch.PROGRAM, *switch.eal_options([vdev]), '--',
             '--match', 'direct', '--idle-exit', '50', '--stats-json', f'{disk}/stats'],
            env=switch.ENVIRONMENT, text=True, capture_output=True, timeout=600, check=False)
    assert done.returncode == 2 and 'No space left' in done.stderr, done.stderr
    switch.assert_same(switch.read_capture(tmp_path / 'out'), replies(sent, 'reflect'))


@needs_mounts
def test_a_full_disk_for_replies(tmp_path):
    """DPDK's driver for captures takes packets that it cannot write; the switch goes on, and its
    own counters stay right."""
    disk = tmp_path / 'disk'
    switch.write_capture(tmp_path / 'in', requests(2000))
    vdev = f'net_pcap0,rx_pcap={tmp_path}/in,tx_pcap={disk}/out'
    with small_disk(disk) as inside:
        done = subprocess.run(
            [*inside, switch.PROGRAM, *switch.eal_options([vdev]), '--', '--match', 'direct',
             '--idle-exit', '50', '--stats-json', str(tmp_path / 'stats')],
            env=switch.ENVIRONMENT, text=True, capture_output=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    stats = switch.read_stats(tmp_path / 'stats')
    assert stats['rx_packets'] == stats['netfc_packets'] == 2000


# ---- packets ---------------------------------------------------------------------------------


def test_a_flood_of_malformed_frames(tmp_path):
    """Random bytes, cut and damaged requests, among good ones: all pass, the good are answered."""
    draw = random.Random(8)
    zoo = [frame for _, frame in itertools.chain(frames.truncated(), frames.contradicting(),
                                                 frames.mutants())]
    flood = [draw.randbytes(draw.randrange(14, 600)) if draw.random() < 0.3 else draw.choice(zoo)
             for _ in range(FLOOD)]
    good = frames.plain_frame(frames.lanes(9))
    flood[::10] = [good] * len(flood[::10])
    result = switch.run([flood, []], options=['--address', '10.9.9.9'])
    assert result.stats['rx_packets'] == len(flood)
    assert result.outputs[1].count(replies([good], 'pair')[0]) >= len(flood[::10])


def test_no_packet_buffer_left(tmp_path):
    """A storm fills rings until no packet buffer is left: copies are dropped by that name, what
    cannot be received is the device's loss, and when it is over nothing is missing."""
    broadcast = frames.patched(frames.plain_frame(frames.request()), 0, b'\xff' * 6)
    switch.write_capture(tmp_path / 'in', [broadcast] * 3000)
    vdevs = [f'net_pcap0,rx_pcap={tmp_path}/in', 'net_ring0', 'net_ring1']
    with hosts.LiveSwitch(tmp_path, vdevs, ['--forward', 'bridge', '--mbufs', 1000],
                          memory=512) as live:
        hosts.wait_until(lambda: 'lcore' in live.stdout, 'the start')
        time.sleep(1)
        stats = live.stop()
    assert stats['drops']['no_mbuf'] > 0
    assert stats['copies'] > 1000


@pytest.mark.parametrize('mbufs', ['0', '511', '16777217', 'x'])
def test_numbers_of_packet_buffers_that_cannot_be(mbufs):
    done = switch.execute([*switch.eal_options(['net_null0']), '--', '--mbufs', mbufs])
    assert done.returncode == 1 and 'mbufs' in done.stderr


# ---- peers -----------------------------------------------------------------------------------


def busy_seconds(live):
    """In how many seconds of its life packets came, as --stats-interval 1 says."""
    return len(re.findall(r'after \d+ s: [1-9]\d* packets/s in', live.stdout))


def test_a_vhost_peer_that_is_killed(tmp_path):
    """A sender is killed while it sends; the next one is served as if nothing had happened."""
    path, sent = switch.RUNTIME / f'vhost-{next(hosts.numbers)}', requests()
    peer = f'net_virtio_user0,path={path},queue_size=1024'
    with hosts.LiveSwitch(tmp_path, [f'net_vhost0,iface={path}'],
                          ['--forward', 'reflect', '--stats-interval', 1], eal=MESSAGES) as live:
        live.wait_for_message('binding succeeded')
        for times in (1, 2):
            before = busy_seconds(live)
            switch.write_capture(tmp_path / 'flood', sent)
            vdevs = [f'net_pcap0,rx_pcap={tmp_path}/flood,infinite_rx=1,tx_pcap=/dev/null', peer]
            with hosts.LiveSwitch(tmp_path, vdevs, ['--port', 9], eal=MESSAGES,
                                  memory=512) as sender:
                vhost_connected(live, times)
                hosts.wait_until(lambda: busy_seconds(live) > before, 'packets')  # pylint: disable=W0640
                sender.process.kill()
        came = exchange(tmp_path, peer, sent, lambda _: vhost_connected(live, 3))
        switch.assert_same(came, replies(sent, 'reflect'))
        assert live.stop()['netfc_packets'] > len(sent)


def test_a_memif_peer_that_leaves(tmp_path):
    """While it sends, killed or in good order: DPDK's driver takes the shared memory away from under
    lcores, unless it is made to wait for them."""
    path, sent = switch.RUNTIME / f'memif-{next(hosts.numbers)}', requests()
    peer = f'net_memif0,role=client,socket={path}'
    switch.write_capture(tmp_path / 'flood', sent)
    with hosts.LiveSwitch(tmp_path, [f'net_memif0,role=server,socket={path}'],
                          ['--forward', 'reflect'], eal=MESSAGES) as live:
        live.wait_for_message('Initialize MEMIF')
        for times, number in enumerate((signal.SIGKILL, signal.SIGTERM) * 2):
            vdevs = [f'net_pcap0,rx_pcap={tmp_path}/flood,infinite_rx=1,tx_pcap=/dev/null', peer]
            with hosts.LiveSwitch(tmp_path, vdevs, ['--port', 9], eal=MESSAGES) as sender:
                live.wait_for_message('Connected.', times + 1)
                time.sleep(0.1)
                sender.process.send_signal(number)
                sender.process.wait(switch.TIMEOUT_S)
        assert live.stop()['netfc_packets'] > 0


@hosts.needs_namespaces
def test_a_link_that_goes_down_and_up(tmp_path):
    with hosts.veth_network(2) as (middle, pair), hosts.LiveSwitch(
            tmp_path, hosts.veth_ports(2), namespace=middle) as live:
        live.wait_until_ready()
        pair[0].ping(pair[1].ipv4)
        for _ in range(3):
            middle.ip('link', 'set', 'p1', 'down')
            time.sleep(0.1)
            middle.ip('link', 'set', 'p1', 'up')
            hosts.wait_until(lambda: pair[0].start(
                'ping', '-c', 1, '-W', 1, pair[1].ipv4, stdout=subprocess.DEVNULL).wait() == 0,
                'the link')
        pair[0].ping(pair[1].ipv4)
        live.stop()


# ---- clocks and clients ------------------------------------------------------------------------


@needs_program('faketime')
def test_a_clock_that_jumps(tmp_path):
    """The wall clock leaps by decades while the switch runs: idle time, which is measured in cycles,
    does not notice."""
    clock = LeapingClock(tmp_path)
    options = ['--match', 'direct', '--idle-exit', '1500', '--stats-json', tmp_path / 'stats']
    process = subprocess.Popen([switch.PROGRAM, *switch.eal_options(['net_null0,no-rx=1']), '--',
                                *map(str, options)], text=True,
                               env={**switch.ENVIRONMENT, **clock.environment},
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    while process.poll() is None:
        clock.leap()
        time.sleep(0.1)
    _, stderr = process.communicate(timeout=switch.TIMEOUT_S)
    assert process.returncode == 0, stderr
    assert 1.5 <= switch.read_stats(tmp_path / 'stats')['seconds'] < switch.TIMEOUT_S


def test_telemetry_clients_that_stall_while_it_stops(tmp_path):
    live = switch.Running(tmp_path, [frames.plain_frame(frames.request())], ['--match', 'direct'],
                          telemetry=True)
    live.wait_until_busy()
    with contextlib.ExitStack() as stack:
        for _ in range(9):
            client = stack.enter_context(Telemetry(live.telemetry_path))
            for _ in range(100):
                client.send('/netfc/stats')
        assert live.stop()[0] == 0


@pytest.mark.slow
@hosts.needs_namespaces
@pytest.mark.skipif(sanitized.is_sanitized(),
                    reason='libnetfc-allreduce in a process without the sanitizer')
def test_a_short_soak_of_a_tree(tmp_path):
    """But the time until all have heard, which other tests change, and memory, as below."""
    project_scripts.run('soak', '--tree', '--minutes', 0.1, '--json', tmp_path / 'report')
    report = json.loads((tmp_path / 'report').read_text())
    assert report['workers_killed'] > 0 and report['vectors'] > 0
    failed = {name for name, holds in report['checks'].items() if not holds}
    assert {name for name in failed if 'memory' not in name and 'levels x stall' not in name} == set(), report


@pytest.mark.slow
def test_a_short_soak(tmp_path):
    """All of the long one but its length; but the rate, which other tests change; and but memory,
    which takes longer to settle and of which the sanitizers, which look for leaks, keep much."""
    project_scripts.run('soak', '--minutes', 0.1, '--json', tmp_path / 'report',
                        ASAN_OPTIONS='quarantine_size_mb=0:thread_local_quarantine_size_kb=0')
    report = json.loads((tmp_path / 'report').read_text())
    assert report['swaps'] >= 4 and report['refused_commands'] >= 2 and report['rx_packets'] > 1000
    checks = {name: holds for name, holds in report['checks'].items()
              if 'rate' not in name and 'memory' not in name}
    assert len(checks) == 5
    assert [name for name, holds in checks.items() if not holds] == [], report
